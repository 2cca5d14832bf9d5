package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownCanaries are about what only macOS has, or has open where Linux has it
// closed by namespaces.
var ownCanaries = []canary{
	{"write into the temporary directory of all", mustFail, func(canaryTask) error {
		f, err := os.CreateTemp("/private/tmp", "deckhand-canary")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}},
	{"give a read-only file a second name", mustFail, func(t canaryTask) error {
		return os.Link(t.ReadOnly+"/file", t.Writable+"/linked")
	}},
	{"signal a process of the host", mustFail, func(t canaryTask) error {
		return unix.Kill(t.HostProcess, 0)
	}},
	{"read the arguments of a process of the host", mustFail, func(t canaryTask) error {
		_, err := unix.SysctlRaw("kern.procargs2", t.HostProcess)
		return err
	}},
	{"run a program that asks the Keychain", mustFail, func(canaryTask) error {
		return exec.Command("/usr/bin/security", "list-keychains").Run()
	}},
	{"run a program that starts others", mustFail, func(canaryTask) error {
		return exec.Command("/bin/launchctl", "print", "user/"+strconv.Itoa(os.Getuid())).Run()
	}},
	{"confine itself anew", mustFail, func(canaryTask) error {
		return exec.Command(sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true").Run()
	}},
}

// hostNetwork is nothing here: there is one network.
func hostNetwork() (string, error) { return "", nil }

// findDescriptor succeeds if there is one that passed the exec and is not
// standard input, output or error. This program's own are marked not to pass.
func findDescriptor(canaryTask) error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			return nil
		}
	}
	return errors.New("only standard input, output and error")
}
