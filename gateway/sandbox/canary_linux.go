package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownCanaries are about what only Linux has.
var ownCanaries = []canary{
	{"write into private memory", mustWork, func(canaryTask) error {
		f, err := os.CreateTemp("/dev/shm", "canary")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}},
	{"be in the host's network", mustFail, func(t canaryTask) error {
		got, err := os.Readlink("/proc/self/ns/net")
		if err == nil && got != t.HostNet {
			err = errors.New("another network namespace")
		}
		return err
	}},
	{"signal a process of the host", mustFail, func(t canaryTask) error { return unix.Kill(t.HostProcess, 0) }},
	{"read the environment of a process of the host", mustFail, func(t canaryTask) error {
		_, err := os.ReadFile("/proc/" + strconv.Itoa(t.HostProcess) + "/environ")
		return err
	}},
	{"make a user namespace", mustFail, func(canaryTask) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.Command(self, "stage")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		if err := cmd.Start(); err != nil {
			return err
		}
		cmd.Wait() // it was started, which is all
		return nil
	}},
	{"make a socket of files", mustFail, func(canaryTask) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
}

// hostNetwork names the network namespace of this process.
func hostNetwork() (string, error) { return os.Readlink("/proc/self/ns/net") }

// findDescriptor succeeds if there is one that is not standard input, output
// or error, nor this program's own.
func findDescriptor(canaryTask) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || slices.Contains([]string{"0", "1", "2"}, e.Name()) {
			continue // the one that read the directory is closed again
		}
		runtimes := func(prefix string) bool { return strings.HasPrefix(target, prefix) }
		if slices.ContainsFunc([]string{"anon_inode:[event", "anon_inode:[pidfd]", "pidfd:", "/sys/fs/cgroup/"}, runtimes) {
			continue // the Go runtime's
		}
		return nil
	}
	return errors.New("only standard input, output and error")
}
