package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"deckhand/gateway/admin"
)

// How long the process may take to come up, and to end once it was asked to.
const (
	readyWithin = 60 * time.Second
	endWithin   = 30 * time.Second
	askEvery    = 20 * time.Millisecond
)

// Options say what to run.
type Options struct {
	// Self is the deckhand binary, Claude the Claude Code binary; "" lets the
	// gateway look for one.
	Self, Claude string
	// State is the state directory; it must exist and be private.
	State string
	// Home is the process's home directory: what is protected depends on it,
	// and a settings file there counts.
	Home string
	// Menu runs the app with its menu, and not the gateway alone.
	Menu bool
	// Args are further arguments of serve, Env further variables, NAME=value.
	Args, Env []string
}

// Gateway is the process, of which there is at most one at a time.
type Gateway struct {
	opt     Options
	address string
	token   string

	cmd   *exec.Cmd
	ended chan struct{} // closed when the process was collected
	words *tail
}

// New prepares a gateway; nothing runs yet.
func New(opt Options) *Gateway { return &Gateway{opt: opt} }

// Address is host:port of the local listener, as the last start found it.
func (g *Gateway) Address() string { return g.address }

// URL is the MCP endpoint of the local listener.
func (g *Gateway) URL() string { return "http://" + g.address + "/mcp" }

// Token is the bearer token of the local listener.
func (g *Gateway) Token() string { return g.token }

// PID is the process's id, 0 if it does not run.
func (g *Gateway) PID() int {
	if !g.Running() {
		return 0
	}
	return g.cmd.Process.Pid
}

// Words are the last lines that the process wrote to its standard output and
// error.
func (g *Gateway) Words() string {
	if g.words == nil {
		return ""
	}
	return g.words.String()
}

// Running reports whether the process was started and has not ended.
func (g *Gateway) Running() bool {
	if g.cmd == nil {
		return false
	}
	select {
	case <-g.ended:
		return false
	default:
		return true
	}
}

// Start starts the process and returns when it answers on its admin socket. On
// an error, or when ctx ends before, nothing runs.
func (g *Gateway) Start(ctx context.Context) error {
	if g.Running() {
		return errors.New("start the gateway: it runs already")
	}
	listen := g.address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	args := []string{"--state-dir", g.opt.State, "--listen", listen, "--connector-listen", "127.0.0.1:0"}
	if !g.opt.Menu {
		args = append([]string{"serve"}, args...)
	}
	args = append(args, g.opt.Args...)
	cmd := exec.Command(g.opt.Self, args...)
	// A process group of its own: Ctrl-C reaches our own process alone, which
	// then ends the gateway in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	cmd.Env = g.environment()
	words := &tail{}
	cmd.Stdout, cmd.Stderr = words, words
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the gateway: %w", err)
	}
	ended := make(chan struct{})
	g.cmd, g.words, g.ended = cmd, words, ended
	go func() { // ends with the process; Stop and Kill wait for it
		_ = cmd.Wait() // how it ended is told by its words and by who asked
		close(ended)
	}()
	if err := g.await(ctx); err != nil {
		return errors.Join(fmt.Errorf("start the gateway: %w", err), g.Kill())
	}
	return nil
}

// await returns when this very process answers on the admin socket.
func (g *Gateway) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("it did not answer within %s", readyWithin))
	defer cancel()
	for {
		status, token, err := g.ask(ctx)
		if err == nil && status.PID == g.cmd.Process.Pid {
			g.address, g.token = status.LocalAddress, token
			return nil
		}
		select {
		case <-g.ended:
			return fmt.Errorf("it ended and said: %s", g.words)
		case <-ctx.Done():
			return fmt.Errorf("%w; it said: %s", errors.Join(context.Cause(ctx), err), g.words)
		case <-time.After(askEvery):
		}
	}
}

func (g *Gateway) ask(ctx context.Context) (admin.Status, string, error) {
	client, err := admin.NewClient(g.opt.State)
	if err != nil {
		return admin.Status{}, "", err
	}
	status, err := client.Status(ctx)
	if err != nil {
		return admin.Status{}, "", err
	}
	token, err := client.Token(ctx)
	return status, token, err
}

// Status asks the running gateway about itself.
func (g *Gateway) Status(ctx context.Context) (admin.Status, error) {
	status, _, err := g.ask(ctx)
	return status, err
}

// Kill ends the process at once, as a crash would. It is fine if none runs.
func (g *Gateway) Kill() error { return g.end(syscall.SIGKILL) }

// Stop asks the process to end and waits. It is fine if none runs.
func (g *Gateway) Stop() error { return g.end(syscall.SIGTERM) }

func (g *Gateway) end(signal syscall.Signal) error {
	if !g.Running() {
		return nil
	}
	// The process is our child and not collected, so the pid is still its own.
	if err := g.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the gateway: %w", err)
	}
	select {
	case <-g.ended:
	case <-time.After(endWithin):
		if err := g.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("kill the gateway: %w", err)
		}
		<-g.ended
		return fmt.Errorf("end the gateway: it was still there %s after %s and said: %s", endWithin, signal, g.words)
	}
	if signal == syscall.SIGTERM && !g.cmd.ProcessState.Success() {
		return fmt.Errorf("end the gateway: %s; it said: %s", g.cmd.ProcessState, g.words)
	}
	return nil
}

// environment is made from nothing but what every program needs.
func (g *Gateway) environment() []string {
	env := []string{"HOME=" + g.opt.Home}
	for _, name := range []string{"PATH", "TMPDIR", "USER", "LOGNAME", "LANG", "SHELL"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if g.opt.Claude != "" {
		env = append(env, "DECKHAND_CLAUDE="+g.opt.Claude)
	}
	return slices.Concat(env, g.opt.Env)
}

// Run runs another command of the same binary against the gateway's state and
// returns what it printed.
func (g *Gateway) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.opt.Self, append(args, "--state-dir", g.opt.State)...)
	cmd.Env = g.environment()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("run deckhand %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
