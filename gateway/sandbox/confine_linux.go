package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// maxProcesses bounds processes and threads. The kernel counts them for each
// user of each user namespace since 5.14; before, the user's others count too.
const maxProcesses = 1024

// confine takes from the stage, and so from all it starts, what the mounts and
// namespaces of bwrap leave. It runs before anything else does in the sandbox.
func confine(todo plan) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NPROC: maxProcesses}
	for resource, n := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("set limit %d: %w", resource, err)
		}
	}
	if err := restrictWrites(todo.Writable); err != nil {
		return fmt.Errorf("apply Landlock: %w", err)
	}
	if err := installFilter(filter(auditArch, todo.Loopback)); err != nil {
		return fmt.Errorf("install system call filter: %w", err)
	}
	return verifyConfined(todo.Outside)
}

const (
	makeFiles = ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock |
		ll.AccessFSMakeFifo | ll.AccessFSMakeSym
	writeFiles = ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeTrees = writeFiles | makeFiles | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSRefer
	// Rights that nothing gets: to make a device, and to reach a socket file.
	neverGiven = ll.AccessFSMakeChar | ll.AccessFSMakeBlock | ll.AccessFSResolveUnix
)

// restrictWrites is the second wall: the mounts are the boundary for files,
// but a read-only mount does not stop writing into a FIFO, nor does it hold
// against a mistake in the list of mounts. Reading is left to the mounts.
// An older kernel applies what it knows; one without Landlock nothing.
func restrictWrites(writable []string) error {
	config := landlock.Config{HandledAccessFS: writeTrees | neverGiven | ll.AccessFSIoctlDev}
	return config.BestEffort().RestrictPaths(
		landlock.PathAccess(writeTrees, writable...),
		landlock.PathAccess(writeFiles|ll.AccessFSIoctlDev,
			"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/ptmx"),
	)
}

// namespaces names the namespaces that this process is in, as the kernel
// numbers them. Kinds that the kernel lacks are left out.
func namespaces() (map[string]string, error) {
	names := map[string]string{}
	// Each by its name: a process that is not dumpable may not list them.
	for _, kind := range []string{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"} {
		name, err := os.Readlink("/proc/self/ns/" + kind)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		names[kind] = name
	}
	return names, nil
}

// verifyConfined asks the kernel whether the stage is what it means to be.
// bwrap sets most of this; a wrapper script in its place, or a future version,
// might not. outside are the launcher's namespaces.
func verifyConfined(outside map[string]string) error {
	if pid := os.Getpid(); pid != 1 {
		return fmt.Errorf("the stage is process %d and not pid 1 of a sandbox", pid)
	}
	own, err := namespaces()
	if err != nil {
		return fmt.Errorf("read own namespaces: %w", err)
	}
	for kind, name := range own {
		if outside[kind] == "" || outside[kind] == name {
			return fmt.Errorf("the %s namespace is the host's", kind)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	want := map[string]string{
		"NoNewPrivs": "1", "Seccomp": "2",
		"CapInh": noCaps, "CapPrm": noCaps, "CapEff": noCaps, "CapBnd": noCaps, "CapAmb": noCaps,
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if wanted, ok := want[name]; ok {
			if value != wanted {
				return fmt.Errorf("the kernel says %s %s and not %s", name, value, wanted)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		return errors.New("the kernel does not say how the stage is confined")
	}
	return nil
}

const noCaps = "0000000000000000"
