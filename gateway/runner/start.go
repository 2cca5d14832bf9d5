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
type Handle struct{ done chan struct{} }

// Done is closed when the shim has ended and was reaped. A shim that an
// earlier gateway started has no handle; its lock tells.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Start starts the shim of a run, and prepares it first unless Prepare has
// done that. ctx bounds only the start. The shim goes on when this process
// ends. Errors are a *turn.Refusal of code launch_failed.
func (r *Runner) Start(ctx context.Context, s Spec) (*Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start shim: %w", context.Cause(ctx)), "")
	}
	dir := r.Dir(s.Run)
	if prepared, err := exists(dir.file(specName)); err != nil || !prepared {
		if err := r.Prepare(s); err != nil {
			return nil, err
		}
	}
	h, err := r.spawn(dir)
	if err != nil {
		return nil, turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("start shim: %w", err), "")
	}
	return h, nil
}

func (r *Runner) spawn(dir Dir) (*Handle, error) {
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
	h := &Handle{done: make(chan struct{})}
	go func() {
		cmd.Wait() // how the shim ended is in its exit record
		close(h.done)
	}()
	return h, nil
}
