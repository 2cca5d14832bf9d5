package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"deckhand/gateway/bridge"
	"deckhand/gateway/link"
	"deckhand/gateway/runner"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// port is where Claude Code finds the shim. Its sandbox has a loopback of its
// own, so the number is the same in all; where there is none it is a wish.
const port = 7717

// termGrace is how long Claude Code has between SIGTERM and SIGKILL. It takes
// 40 ms.
const termGrace = 3 * time.Second

// claude is a running Claude Code with the pipes that it is served by.
type claude struct {
	process *sandbox.Process
	pumps   sync.WaitGroup
	ending  ending // valid once pumps are done
}

// serve starts Claude Code, serves it until it ends, and returns how it ended.
func (s *shim) serve() link.Exit {
	c, err := s.start()
	if err != nil {
		return s.launchFailed(err)
	}
	br, err := bridge.New(s.bridgeConfig(c.process.Addr()))
	if err != nil {
		c.process.Kill()
		c.process.Wait()
		c.pumps.Wait()
		return s.launchFailed(err)
	}
	s.log.Info("Claude Code started")
	server := &http.Server{Handler: br, ReadHeaderTimeout: 30 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(c.process.Listener()); !errors.Is(err, http.ErrServerClosed) {
			s.log.Info("port closed", "err", err)
		}
	})

	first, stop := context.WithCancel(s.life)
	serving.Go(func() { s.awaitFirst(first) })
	exit := s.await(c.process)
	stop()
	// Nothing can ask any more. Pending offers end before the server's
	// handlers, which wait for them.
	br.Close()
	server.Close()
	serving.Wait()
	c.pumps.Wait()
	return link.Exit{Code: exit.Code, Signal: exit.Signal, Offers: br.Offers(), Version: c.ending.version,
		Result: c.ending.result, IsError: c.ending.isError, Subtype: c.ending.subtype}
}

// await returns when Claude Code and all it started are gone. If life ends
// before, it ends them.
func (s *shim) await(p *sandbox.Process) sandbox.Exit {
	gone := make(chan sandbox.Exit, 1)
	go func() { gone <- p.Wait() }()
	select {
	case exit := <-gone:
		return exit
	case <-s.life.Done():
	}
	p.Terminate()
	grace := time.NewTimer(termGrace)
	defer grace.Stop()
	select {
	case exit := <-gone:
		return exit
	case <-grace.C:
	}
	p.Kill()
	return <-gone
}

// start starts Claude Code in its sandbox with its pipes.
func (s *shim) start() (*claude, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	launcher, err := sandbox.Find(sandbox.Config{Self: self, Bubblewrap: s.plan.Bubblewrap})
	if err != nil {
		return nil, err
	}
	stdoutLog, err := createBounded(s.dir.Stdout())
	if err != nil {
		return nil, err
	}
	stderrLog, err := createBounded(s.dir.Stderr())
	if err != nil {
		stdoutLog.Close()
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		stdoutLog.Close()
		stderrLog.Close()
		return nil, err
	}
	c := new(claude)
	// The sandbox ends by Terminate and Kill, not by a context: a run that is
	// told to end gets its grace.
	c.process, err = launcher.Start(context.Background(), sandbox.Policy{
		ReadOnly: append(s.dir.Shown(), s.plan.Claude),
		Writable: []string{s.plan.Home},
		Network:  sandbox.PrivateLoopback,
		Listen:   port,
	}, sandbox.Command{
		Path: s.plan.Claude, Dir: s.dir.WorkingDirectory(),
		Build: func(addr string) (args, env []string) { return runner.Command(s.plan, s.dir, addr) },
		Stdin: pipes.stdin.far, Stdout: pipes.stdout.far, Stderr: pipes.stderr.far,
	})
	pipes.closeFar()
	if err != nil {
		pipes.closeNear()
		stdoutLog.Close()
		stderrLog.Close()
		return nil, err
	}
	c.pumps.Go(func() {
		defer pipes.stdin.near.Close()
		if _, err := io.WriteString(pipes.stdin.near, s.plan.Stdin()); err != nil {
			s.log.Info("Claude Code did not read its whole prompt")
		}
	})
	c.pumps.Go(func() {
		defer stdoutLog.Close()
		defer pipes.stdout.near.Close()
		var err error
		if c.ending, err = readOutput(pipes.stdout.near, stdoutLog); err != nil {
			s.log.Error("read Claude Code's output", "err", err)
		}
	})
	c.pumps.Go(func() {
		defer stderrLog.Close()
		defer pipes.stderr.near.Close()
		if _, err := io.Copy(stderrLog, pipes.stderr.near); err != nil {
			s.log.Error("read Claude Code's complaints", "err", err)
		}
	})
	return c, nil
}

// launchFailed is the end of a run whose Claude Code never started. Only the
// refusal's public part goes into the record.
func (s *shim) launchFailed(err error) link.Exit {
	s.log.Error("start Claude Code", "err", err)
	e := link.Exit{Code: -1, LaunchCode: turn.LaunchFailed, LaunchError: "Claude Code could not be started"}
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
		e.LaunchCode = refusal.Code
		if refusal.Detail != "" {
			e.LaunchError = refusal.Detail
		}
	}
	return e
}

// bridgeConfig ties the port to the gateway.
func (s *shim) bridgeConfig(addr string) bridge.Config {
	cfg := bridge.Config{Run: s.plan.Run, Token: s.plan.PortToken(), Host: addr, Name: runner.ToolServer,
		Model: runner.Model, Prompt: s.plan.Stdin(), Offer: s.offer, Call: s.client.Call, Log: s.log}
	for _, t := range s.plan.Tools {
		cfg.Tools = append(cfg.Tools, bridge.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, ReadOnly: t.ReadOnly})
	}
	return cfg
}

// offer passes a model request on, and notes if there will be no answer.
func (s *shim) offer(ctx context.Context, o link.Offer) (link.Release, error) {
	s.askOnce.Do(func() { close(s.asked) })
	if o.Tail == link.TailOther {
		// Refused already, and this run is over. The gateway hears of it now if
		// it is there, and from the exit record in any case.
		s.refuse(turn.UnexpectedModelRequest)
	}
	release, err := s.client.Offer(ctx, o)
	refusal, ok := errors.AsType[*turn.Refusal](err)
	switch {
	case link.MustEnd(err):
		s.endFor(err)
	case ok:
		s.refuse(refusal.Code)
	}
	return release, err
}
