//go:build linux || darwin

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"deckhand/gateway/scratch"
	"deckhand/gateway/turn"
)

// canaryPort: any would do.
const canaryPort = 20000

// SelfTest starts the canaries in a sandbox and looks at how their attempts
// went. It takes well under a second, and returns nil only if every attempt
// to get out failed and everything that must work does; else a *turn.Refusal
// of code sandbox_unavailable.
func (l *Launcher) SelfTest(ctx context.Context) error {
	err := l.selfTest(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Code == turn.SandboxUnavailable {
		return err
	}
	if leak, ok := errors.AsType[*leakError](err); ok {
		return turn.Refuse(turn.SandboxUnavailable, "the sandbox does not hold on this machine: %s", leak)
	}
	return turn.RefuseFor(turn.SandboxUnavailable, err, "the self-test of the sandbox could not be made")
}

// leakError is a canary that did what it must not, or could not do what it must.
type leakError struct{ what string }

func (e *leakError) Error() string { return e.what }

// selfTest lets the canaries try in the sandbox of Claude Code and in that of
// commands.
func (l *Launcher) selfTest(ctx context.Context) error {
	for _, view := range []View{BaseSystem, WholeSystem} {
		if err := l.selfTestIn(ctx, view); err != nil {
			return err
		}
	}
	return nil
}

func (l *Launcher) selfTestIn(ctx context.Context, view View) (err error) {
	ground, err := newCanaryGround(view)
	if err != nil {
		return fmt.Errorf("prepare self-test: %w", err)
	}
	defer func() { err = errors.Join(err, ground.close()) }()

	in, out, err := ground.files()
	if err != nil {
		return fmt.Errorf("prepare self-test: %w", err)
	}
	defer in.Close()
	defer out.Close()

	process, err := l.Start(ctx, ground.policy(), Command{
		Path: l.stagePath(),
		Build: func(addr string) (args, env []string) {
			return []string{"stage", canariesArg, addr}, ground.task.Env
		},
		Stdin: in, Stdout: out,
	})
	if err != nil {
		return err
	}
	var served sync.WaitGroup
	served.Go(func() { acceptAll(process.Listener()) })
	exit := process.Wait()
	served.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit != (Exit{}) {
		return fmt.Errorf("the canaries ended with %+v", exit)
	}
	var results []canaryResult
	if _, err := out.Seek(0, 0); err != nil {
		return err
	}
	if err := json.NewDecoder(out).Decode(&results); err != nil {
		return fmt.Errorf("read canaries: %w", err)
	}
	return errors.Join(judge(results), ground.look())
}

// judge looks at the results in the order of the canaries.
func judge(results []canaryResult) error {
	if len(results) != len(canaries) {
		return fmt.Errorf("%d results of %d canaries", len(results), len(canaries))
	}
	for i, c := range canaries {
		switch r := results[i]; {
		case r.Name != c.name:
			return fmt.Errorf("a result for %q where %q was expected", r.Name, c.name)
		case c.want == mustWork && r.Error != "":
			return &leakError{fmt.Sprintf("could not %s: %s", c.name, r.Error)}
		case c.want == mustFail && r.Error == "":
			return &leakError{"could " + c.name}
		}
	}
	return nil
}

func acceptAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed when the tree is gone
		}
		c.Close()
	}
}

// canaryGround is what the canaries meet on the host's side.
type canaryGround struct {
	scratch *scratch.Dir
	view    View
	dir     string
	task    canaryTask
	tcp     net.Listener
	unix    net.Listener
	fifo    *os.File // its reading end
}

func newCanaryGround(view View) (_ *canaryGround, err error) {
	held, err := scratch.Make()
	if err != nil {
		return nil, err
	}
	dir := held.Path
	g := &canaryGround{scratch: held, view: view, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	hostNet, err := hostNetwork()
	if err != nil {
		return nil, err
	}
	g.task = canaryTask{
		Outside:     filepath.Join(dir, "outside"),
		ReadOnly:    filepath.Join(dir, "readonly"),
		Writable:    filepath.Join(dir, "writable"),
		HostNet:     hostNet,
		HostProcess: os.Getpid(),
		Env:         []string{"DECKHAND_CANARY=1"},
	}
	if view == WholeSystem {
		// What is not hidden there is for reading.
		g.task.Outside = filepath.Join(g.task.ReadOnly, "hidden", "file")
		g.task.Fifo = filepath.Join(g.task.ReadOnly, "fifo")
	}
	err = errors.Join(
		os.MkdirAll(filepath.Join(g.task.ReadOnly, "hidden"), 0o700),
		os.Mkdir(g.task.Writable, 0o700),
		os.WriteFile(g.task.Outside, []byte("outside"), 0o600),
		os.WriteFile(filepath.Join(g.task.ReadOnly, "file"), []byte("inside"), 0o600),
		os.WriteFile(filepath.Join(g.task.Writable, "lock"), nil, 0o600))
	if err != nil {
		return nil, err
	}
	if g.task.Fifo != "" {
		if err := unix.Mkfifo(g.task.Fifo, 0o600); err != nil {
			return nil, err
		}
		if g.fifo, err = os.OpenFile(g.task.Fifo, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
			return nil, err
		}
	}
	if g.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	g.task.HostTCP = g.tcp.Addr().String()
	if g.unix, err = net.Listen("unix", filepath.Join(g.task.ReadOnly, "socket")); err != nil {
		return nil, err
	}
	return g, nil
}

// policy is like those of Claude Code and of commands.
func (g *canaryGround) policy() Policy {
	p := Policy{
		View:     g.view,
		ReadOnly: []string{g.task.ReadOnly},
		Writable: []string{g.task.Writable},
		Network:  PrivateLoopback,
		Listen:   canaryPort,
	}
	if g.view == WholeSystem {
		p.Hidden = []string{filepath.Dir(g.task.Outside)}
	}
	return p
}

// files returns the canaries' standard input and output.
func (g *canaryGround) files() (in, out *os.File, err error) {
	task, err := json.Marshal(g.task)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(g.dir, "task")
	if err := os.WriteFile(name, task, 0o600); err != nil {
		return nil, nil, err
	}
	if in, err = os.Open(name); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile(filepath.Join(g.dir, "results"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, out, nil
}

// look says what the tree, which is gone, left on the host.
func (g *canaryGround) look() error {
	if _, err := os.Lstat(g.task.Outside + ".new"); !errors.Is(err, fs.ErrNotExist) {
		return &leakError{"a file was written outside of the policy"}
	}
	lock, err := os.Open(filepath.Join(g.task.Writable, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return &leakError{"a daemon outlived the sandbox"}
	}
	return nil
}

func (g *canaryGround) close() error {
	var errs []error
	if g.tcp != nil {
		errs = append(errs, g.tcp.Close())
	}
	if g.unix != nil {
		errs = append(errs, g.unix.Close())
	}
	if g.fifo != nil {
		errs = append(errs, g.fifo.Close())
	}
	return errors.Join(append(errs, g.scratch.Close())...)
}
