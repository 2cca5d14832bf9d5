package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// Kind names what confines on this system.
const Kind = "bubblewrap"

// setupLimit bounds everything that Start does before the command runs; it
// takes about ten milliseconds.
const setupLimit = 30 * time.Second

// Launcher starts confined processes. It is safe for use by many goroutines.
type Launcher struct {
	self, bwrap string
}

// Find checks that this machine has what confining takes. It does not start
// anything confined: SelfTest does.
func Find(cfg Config) (*Launcher, error) {
	if !filepath.IsAbs(cfg.Self) {
		return nil, fmt.Errorf("find sandbox: own binary %q is not an absolute path", cfg.Self)
	}
	// A link would show the stage under a name that can be pointed elsewhere.
	self, err := filepath.EvalSymlinks(cfg.Self)
	if err != nil {
		return nil, fmt.Errorf("find sandbox: %w", err)
	}
	bwrap, err := findBubblewrap(cfg.Bubblewrap)
	if err != nil {
		return nil, turn.RefuseFor(turn.SandboxUnavailable, err, "bubblewrap is missing; %s", installCure())
	}
	out, err := exec.Command(bwrap, "--version").Output()
	if err != nil {
		return nil, turn.RefuseFor(turn.SandboxUnavailable, err, "bubblewrap does not run; %s", installCure())
	}
	version := strings.TrimSpace(strings.TrimPrefix(string(out), "bubblewrap "))
	if !knowsDisableUserns(version) {
		return nil, turn.Refuse(turn.SandboxUnavailable, "bubblewrap %s is too old, 0.8.0 is needed; %s", version, installCure())
	}
	if auditArch == 0 {
		return nil, turn.Refuse(turn.SandboxUnavailable, "no table of system calls for %s", runtime.GOARCH)
	}
	return &Launcher{self: self, bwrap: bwrap}, nil
}

func findBubblewrap(path string) (string, error) {
	if path == "" {
		found, err := exec.LookPath("bwrap")
		if err == nil && filepath.IsAbs(found) {
			return found, nil
		}
		// An app that a desktop started may have almost no PATH.
		path = "/usr/bin/bwrap"
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", path)
	}
	return exec.LookPath(path)
}

// knowsDisableUserns reports whether a version of bwrap is 0.8.0 or later.
func knowsDisableUserns(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return errA == nil && errB == nil && (a > 0 || b >= 8)
}

// Start runs a command confined. It returns once the command runs, or with an
// error and nothing left behind. If ctx ends, at any time, the whole tree is
// killed.
//
// A *turn.Refusal says sandbox_unavailable if the machine does not confine,
// and launch_failed if the policy or the command is at fault.
func (l *Launcher) Start(ctx context.Context, p Policy, c Command) (*Process, error) {
	if err := p.check(); err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("check sandbox policy: %w", err), "")
	}
	addr := ""
	if p.Listen != 0 {
		addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Listen))
	}
	c, err := c.resolve(addr)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("check confined command: %w", err), "")
	}
	made, err := arrange(l.self, p)
	if err != nil {
		return nil, turn.RefuseFor(turn.SandboxUnavailable, err, "the base system cannot be shown")
	}
	w, err := l.wrap(made.args, c)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start bubblewrap: %w", err), "")
	}
	stop := context.AfterFunc(ctx, w.kill)
	process, err := w.handshake(p, made.writable, c, addr)
	if err != nil {
		w.kill()
		w.wait()
		stop()
		return nil, w.explain(ctx, err)
	}
	go func() {
		process.exit = w.wait()
		stop()
		if process.listener != nil {
			process.listener.Close()
		}
		close(process.done)
	}()
	return process, nil
}

// wrap starts bwrap. Its own stdio is not the command's: what it and the stage
// complain about is kept for the error of Start.
//
// Neither a death signal here nor bwrap's --die-with-parent: killed in the
// moment between its clone and its "go on", bwrap leaves a child that waits for
// ever. If this process dies, the stage sees the end of the control socket; if
// bwrap dies, the stage has a death signal of its own.
func (l *Launcher) wrap(args []string, c Command) (*wrapper, error) {
	// Descriptors that this process was born with would pass through bwrap.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("guard descriptors: %w", err)
	}
	argsFile, err := argumentFile(args)
	if err != nil {
		return nil, err
	}
	defer argsFile.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	control, stageEnd, err := controlPair()
	if err != nil {
		return nil, err
	}
	defer stageEnd.Close()

	w := &wrapper{control: control, pidfd: -1, ended: make(chan struct{})}
	w.cmd = &exec.Cmd{
		Path:   l.bwrap,
		Args:   []string{"bwrap", "--args", strconv.Itoa(argsFD), "--", stagePath, "stage"},
		Env:    []string{},
		Dir:    "/",
		Stderr: &w.complaints,
		// In the order of the constants in control_linux.go.
		ExtraFiles: []*os.File{argsFile, stageEnd,
			cmp.Or(c.Stdin, null), cmp.Or(c.Stdout, null), cmp.Or(c.Stderr, null)},
		WaitDelay: setupLimit,
	}
	if err := w.cmd.Start(); err != nil {
		control.Close()
		return nil, err
	}
	go func() {
		w.cmd.Wait() // how bwrap ends says less than the stage's report
		close(w.ended)
	}()
	return w, nil
}

// handshake brings the stage from its start to a running command.
func (w *wrapper) handshake(p Policy, writable []string, c Command, addr string) (_ *Process, err error) {
	if err := w.control.SetDeadline(time.Now().Add(setupLimit)); err != nil {
		return nil, err
	}
	outside, err := namespaces()
	if err != nil {
		return nil, fmt.Errorf("read own namespaces: %w", err)
	}
	todo := plan{task: task{c.Path, c.Args, c.Env, c.Dir},
		Writable: writable, Loopback: p.Network == PrivateLoopback, Listen: p.Listen, Outside: outside}
	if err := encode(w.control, todo); err != nil {
		return nil, fmt.Errorf("send plan: %w", err)
	}
	pid, file, err := readReady(w.control)
	if err != nil {
		return nil, fmt.Errorf("wait for the stage: %w", err)
	}
	process := &Process{addr: addr, tree: w, done: make(chan struct{})}
	if file != nil {
		process.listener, err = net.FileListener(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("use the sandbox's listener: %w", err)
		}
		defer func() {
			if err != nil {
				process.listener.Close()
			}
		}()
	}
	if (process.listener != nil) != (p.Listen != 0) {
		return nil, errors.New("the stage sent another number of listeners than asked for")
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("open the stage's process: %w", err)
	}
	w.hold(pidfd)
	if err := encode(w.control, orderGo); err != nil {
		return nil, fmt.Errorf("send go: %w", err)
	}
	// The stage answers, so it lived all the time, and the descriptor is of it
	// and not of a later process with the same number.
	w.reports = json.NewDecoder(w.control)
	var r report
	if err := w.reports.Decode(&r); err != nil {
		return nil, fmt.Errorf("wait for the command to start: %w", err)
	}
	if !r.Started {
		return nil, &launchError{r.Failure}
	}
	return process, w.control.SetDeadline(time.Time{})
}

// explain turns what went wrong in a handshake into a refusal.
func (w *wrapper) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("start confined command: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*launchError](err); ok {
		return turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start confined command: %w", err), "")
	}
	said := string(bytes.TrimSpace(w.complaints.Bytes()))
	return turn.RefuseFor(turn.SandboxUnavailable, fmt.Errorf("start sandbox: %w: %s", err, said), "%s", setupCure(said))
}
