package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// Kind names what confines on this system.
const Kind = "Seatbelt"

// sandboxExec applies a profile and becomes the stage. No other copy of it is
// used, whatever PATH says.
const sandboxExec = "/usr/bin/sandbox-exec"

// setupLimit bounds everything that Start does before the command runs; it
// takes some tens of milliseconds.
const setupLimit = 30 * time.Second

// MaxHidden bounds Policy.Hidden: each is four lines of a profile, which is an
// argument of a program.
const MaxHidden = 512

// Launcher starts confined processes. It is safe for use by many goroutines.
type Launcher struct{ self string }

// Find checks that this machine has what confining takes. It does not start
// anything confined: SelfTest does. Config.Bubblewrap is not looked at.
func Find(cfg Config) (*Launcher, error) {
	if !filepath.IsAbs(cfg.Self) {
		return nil, fmt.Errorf("find sandbox: own binary %q is not an absolute path", cfg.Self)
	}
	self, err := filepath.EvalSymlinks(cfg.Self)
	if err != nil {
		return nil, fmt.Errorf("find sandbox: %w", err)
	}
	if self, err = kernelPath(self); err != nil {
		return nil, fmt.Errorf("find sandbox: %w", err)
	}
	info, err := os.Lstat(sandboxExec)
	if err != nil {
		return nil, turn.RefuseFor(turn.SandboxUnavailable, err, "this macOS has no %s", sandboxExec)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode()&fs.ModeType != 0 || info.Mode().Perm()&0o111 == 0 || !ok || owner.Uid != 0 {
		return nil, turn.Refuse(turn.SandboxUnavailable, "%s is not the system's program", sandboxExec)
	}
	return &Launcher{self: self}, nil
}

// stagePath is what SelfTest starts.
func (l *Launcher) stagePath() string { return l.self }

// Start runs a command confined. It returns once the command runs, or with an
// error and nothing left behind. If ctx ends, at any time, the whole tree is
// killed.
//
// A *turn.Refusal says sandbox_unavailable if the machine does not confine,
// and launch_failed if the policy or the command is at fault.
func (l *Launcher) Start(ctx context.Context, p Policy, c Command) (_ *Process, err error) {
	if err := p.check(); err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("check sandbox policy: %w", err), "")
	}
	var port loopbackPort
	if p.Listen != 0 {
		if port, err = openPort(); err != nil {
			return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("open the sandbox's port: %w", err), "")
		}
	}
	defer func() {
		if err != nil {
			port.close()
		}
	}()
	c, err = c.resolve(port.addr())
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("check confined command: %w", err), "")
	}
	rules, err := kernelRules(p)
	if err == nil {
		rules.Self, rules.Port, rules.Mark = l.self, port.number, "rc."+rand.Text()
	}
	profile, err := makeSeatbelt(rules)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("write sandbox profile: %w", err), "")
	}
	t, err := l.launch(profile, rules.Mark, c)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start %s: %w", sandboxExec, err), "")
	}
	stop := context.AfterFunc(ctx, t.kill)
	if err := t.handshake(c); err != nil {
		t.kill()
		t.wait()
		stop()
		return nil, t.explain(ctx, err)
	}
	process := &Process{listener: port.listener, addr: port.addr(), tree: t, done: make(chan struct{})}
	go func() {
		process.exit = t.wait()
		stop()
		port.close()
		close(process.done)
	}()
	return process, nil
}

// launch starts sandbox-exec, which becomes the stage. What the two complain
// about is kept for the error of Start.
func (l *Launcher) launch(profile seatbelt, mark string, c Command) (_ *tied, err error) {
	// Descriptors that this process was born with would pass through.
	if err := guardDescriptors(); err != nil {
		return nil, fmt.Errorf("guard descriptors: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	stageOrders, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stageOrders.Close()
	reports, stageReports, err := os.Pipe()
	if err != nil {
		orders.Close()
		return nil, err
	}
	defer stageReports.Close()

	t := &tied{mark: mark, orders: orders, pipe: reports, reports: json.NewDecoder(reports), ended: make(chan struct{})}
	t.cmd = &exec.Cmd{
		Path:   sandboxExec,
		Args:   append(append([]string{"sandbox-exec"}, profile.arguments()...), "--", l.self, "stage"),
		Env:    []string{},
		Dir:    "/",
		Stderr: &t.complaints,
		// In the order of the constants in control_darwin.go.
		ExtraFiles:  []*os.File{stageOrders, stageReports, cmp.Or(c.Stdin, null), cmp.Or(c.Stdout, null), cmp.Or(c.Stderr, null)},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   setupLimit,
	}
	if err := t.cmd.Start(); err != nil {
		orders.Close()
		reports.Close()
		return nil, err
	}
	go func() {
		t.cmd.Wait() // how the stage ends says less than its report
		close(t.ended)
	}()
	return t, nil
}

// handshake brings the stage from its start to a running command.
func (t *tied) handshake(c Command) error {
	limit := time.Now().Add(setupLimit)
	if err := errors.Join(t.orders.SetWriteDeadline(limit), t.pipe.SetReadDeadline(limit)); err != nil {
		return err
	}
	processes, err := processLimit()
	if err != nil {
		return fmt.Errorf("count processes: %w", err)
	}
	if err := encode(t.orders, plan{task: task{c.Path, c.Args, c.Env, c.Dir}, Processes: processes}); err != nil {
		return fmt.Errorf("send plan: %w", err)
	}
	var r ready
	if err := t.reports.Decode(&r); err != nil {
		return fmt.Errorf("wait for the stage: %w", err)
	}
	// The kernel's word, not the stage's: it is the process that was started,
	// and it bears the mark by which the whole tree is found.
	if r.PID != t.cmd.Process.Pid {
		return fmt.Errorf("the stage is process %d and not %d", r.PID, t.cmd.Process.Pid)
	}
	if !bears(r.PID, t.mark) {
		return errors.New("the system does not say that the stage is confined")
	}
	if err := encode(t.orders, orderGo); err != nil {
		return fmt.Errorf("send go: %w", err)
	}
	var started report
	if err := t.reports.Decode(&started); err != nil {
		return fmt.Errorf("wait for the command to start: %w", err)
	}
	if !started.Started {
		return &launchError{started.Failure}
	}
	return errors.Join(t.orders.SetWriteDeadline(time.Time{}), t.pipe.SetReadDeadline(time.Time{}))
}

// explain turns what went wrong in a handshake into a refusal.
func (t *tied) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("start confined command: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*launchError](err); ok {
		return turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start confined command: %w", err), "")
	}
	said := string(bytes.TrimSpace(t.complaints.Bytes()))
	detail := "the sandbox of this macOS did not start"
	if strings.Contains(said, "sandbox_apply") {
		// A sandbox does not hold another one.
		detail = "Deckhand itself runs in a sandbox, which cannot hold another one; to cure it: start Deckhand outside of it"
	}
	return turn.RefuseFor(turn.SandboxUnavailable, fmt.Errorf("start sandbox: %w: %s", err, said), "%s", detail)
}

// maxProcesses is how many processes and threads a sandbox may add to those
// that the user has when it starts: macOS counts them for the user.
const maxProcesses = 1024

func processLimit() (uint64, error) {
	have, err := userProcesses()
	if err != nil {
		return 0, err
	}
	return uint64(len(have)) + maxProcesses, nil
}

// guardDescriptors keeps every descriptor of this process but 0, 1 and 2 from
// passing an exec. Go does so for its own; this is for others.
func guardDescriptors() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// loopbackPort is a port of the host's loopback, with its listener. The zero
// value is none.
type loopbackPort struct {
	number   int
	listener net.Listener
	// other holds the port of that number on ::1, without listening: a rule
	// for "localhost" is about both, and nobody else shall have it. nil where
	// there is no IPv6.
	other *os.File
}

// portAttempts bounds the search for a number that is free on both addresses.
const portAttempts = 20

// openPort opens a port that the system chooses. The number that a policy
// wishes for means nothing where runs share a loopback.
func openPort() (loopbackPort, error) {
	var refused error
	for range portAttempts {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return loopbackPort{}, err
		}
		p := loopbackPort{number: l.Addr().(*net.TCPAddr).Port, listener: l}
		p.other, err = holdPort(p.number)
		if err == nil || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
			return p, nil
		}
		refused = err
		p.close()
	}
	return loopbackPort{}, refused
}

// holdPort binds a port of ::1.
func holdPort(number int) (*os.File, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	addr := &unix.SockaddrInet6{Port: number}
	addr.Addr[15] = 1
	err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	if err == nil {
		err = unix.Bind(fd, addr)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "port"), nil
}

// addr is "127.0.0.1:PORT", or "".
func (p loopbackPort) addr() string {
	if p.listener == nil {
		return ""
	}
	return p.listener.Addr().String()
}

func (p loopbackPort) close() {
	if p.listener != nil {
		p.listener.Close()
	}
	p.other.Close() // does nothing to nil
}
