//go:build linux || darwin

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Arguments of Stage for the self-test.
const (
	canariesArg = "canaries"
	lingerArg   = "linger"
)

// canaryTask tells the canaries where to try.
type canaryTask struct {
	// Outside is a host file that the policy does not show, or that it hides.
	Outside string `json:"outside"`
	// ReadOnly is shown read-only and holds "file" and the socket "socket".
	ReadOnly string `json:"read_only"`
	// Writable is shown writable and holds the file "lock".
	Writable string `json:"writable"`
	// Fifo, if not "", is one of the host's that somebody reads.
	Fifo string `json:"fifo,omitempty"`
	// HostTCP is an address on which the host listens, HostNet the host's
	// network namespace, where there are any.
	HostTCP string `json:"host_tcp"`
	HostNet string `json:"host_net,omitempty"`
	// HostProcess is a process of this user's outside.
	HostProcess int `json:"host_process"`
	// OwnTCP is the address of the sandbox's own listener. It is known only
	// once there is a sandbox, and comes as an argument.
	OwnTCP string `json:"-"`
	// Env is the whole environment that was handed over.
	Env []string `json:"env"`
}

// canaryResult says how an attempt went; Error is empty if it succeeded.
type canaryResult struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// canary is one attempt.
type canary struct {
	name string
	want expectation
	try  func(canaryTask) error
}

type expectation int

const (
	mustWork expectation = iota
	mustFail
	// hostLooks: it may seem to work inside; what counts is what the host sees
	// of it afterwards.
	hostLooks
)

// canaries are those that are the same on every system, and then its own.
var canaries = slices.Concat([]canary{
	{"read a file of the policy", mustWork, func(t canaryTask) error {
		_, err := os.ReadFile(filepath.Join(t.ReadOnly, "file"))
		return err
	}},
	{"write into a writable directory", mustWork, func(t canaryTask) error {
		return os.WriteFile(filepath.Join(t.Writable, "file"), []byte("x"), 0o600)
	}},
	{"reach the own listener", mustWork, func(t canaryTask) error { return dial("tcp", t.OwnTCP) }},
	// The lock tells the host, after the tree is gone, whether it really is.
	{"start a daemon", mustWork, startDaemon},

	{"read a file outside of the policy", mustFail, func(t canaryTask) error {
		_, err := os.ReadFile(t.Outside)
		return err
	}},
	{"write beside a file outside of the policy", hostLooks, func(t canaryTask) error {
		return os.WriteFile(t.Outside+".new", []byte("x"), 0o600)
	}},
	{"write into a read-only directory", mustFail, func(t canaryTask) error {
		return os.WriteFile(filepath.Join(t.ReadOnly, "new"), []byte("x"), 0o600)
	}},
	{"change the mode of a read-only file", mustFail, func(t canaryTask) error {
		return os.Chmod(filepath.Join(t.ReadOnly, "file"), 0o640)
	}},
	{"write into a FIFO of the host", mustFail, func(t canaryTask) error {
		if t.Fifo == "" {
			return errors.New("there is none")
		}
		fd, err := unix.Open(t.Fifo, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{"reach a listener of the host", mustFail, func(t canaryTask) error { return dial("tcp", t.HostTCP) }},
	{"reach a unix socket of the host", mustFail, func(t canaryTask) error {
		return dial("unix", filepath.Join(t.ReadOnly, "socket"))
	}},
	{"find an inherited variable", mustFail, func(t canaryTask) error {
		for _, entry := range os.Environ() {
			if !slices.Contains(t.Env, entry) {
				return nil
			}
		}
		return errors.New("only the variables handed over")
	}},
	{"find an inherited descriptor", mustFail, findDescriptor},
}, ownCanaries)

// runCanaries makes every attempt and says how it went.
func runCanaries(in io.Reader, out io.Writer, ownTCP string) error {
	var task canaryTask
	if err := json.NewDecoder(in).Decode(&task); err != nil {
		return fmt.Errorf("read canary task: %w", err)
	}
	task.OwnTCP = ownTCP
	var results []canaryResult
	for _, c := range canaries {
		r := canaryResult{Name: c.name}
		if err := c.try(task); err != nil {
			r.Error = err.Error()
		}
		results = append(results, r)
	}
	return json.NewEncoder(out).Encode(results)
}

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// startDaemon leaves a process behind that has a session of its own, ignores
// SIGTERM, and holds the lock until it ends.
func startDaemon(t canaryTask) error {
	lock, err := os.OpenFile(filepath.Join(t.Writable, "lock"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	daemon := exec.Command(self, "stage", lingerArg)
	daemon.ExtraFiles = []*os.File{lock}
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		return err
	}
	return daemon.Process.Release()
}

// lingerTime is longer than any self-test, and not for ever.
const lingerTime = time.Minute

// linger is the daemon.
func linger() {
	signal.Ignore(unix.SIGTERM, unix.SIGHUP)
	time.Sleep(lingerTime)
}
