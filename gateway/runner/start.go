package runner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"deckhand/gateway/turn"
)

// Handle is a shim that this process started.
type Handle struct {
	process *os.Process
	done    chan struct{}
}

// Done is closed when the shim has ended and was reaped. A shim that an
// earlier gateway started has no handle; its lock tells.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Kill ends a shim that does not end by itself, and with it its sandbox. It
// does nothing to one that was reaped.
func (h *Handle) Kill() { h.process.Kill() }

// Start prepares a run and starts its shim. ctx bounds only the start. The
// shim goes on when this process ends. Errors are a *turn.Refusal of code
// launch_failed.
func (r *Runner) Start(ctx context.Context, s Spec) (*Handle, error) {
	h, err := r.start(ctx, s)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start shim: %w", err), "")
	}
	r.cfg.Log.Info("shim started", "run", s.Run)
	return h, nil
}

func (r *Runner) start(ctx context.Context, s Spec) (*Handle, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	dir, err := r.prepare(s)
	if err != nil {
		return nil, err
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	// The child has the same open file, and with it the lock.
	defer lock.Release()
	log, err := os.OpenFile(dir.ShimLog(), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := &exec.Cmd{
		Path:   r.cfg.Self,
		Args:   []string{"deckhand", "shim", "--run", string(dir)},
		Env:    []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Dir:    "/",
		Stdout: log,
		Stderr: log,
		// In the order of lockFD.
		ExtraFiles:  []*os.File{lock.file},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h := &Handle{process: cmd.Process, done: make(chan struct{})}
	go func() {
		cmd.Wait() // how the shim ended is in its exit record
		close(h.done)
	}()
	return h, nil
}
