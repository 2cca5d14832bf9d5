package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

const (
	// tellLimit bounds how long an ended shim tries to tell the gateway.
	tellLimit = 10 * time.Second
	// refusedGrace is how long Claude Code has to end by itself after a model
	// request of it was refused.
	refusedGrace = 5 * time.Second
	// firstLimit bounds the time from the start of Claude Code to its first
	// model request. It takes a second; one that hangs would hold its session
	// until the lease passes.
	firstLimit = 2 * time.Minute
)

// shim is one run. Everything but the fields under mu is set before the first
// goroutine starts.
type shim struct {
	dir    runner.Dir
	plan   runner.Plan
	log    *slog.Logger
	client *link.Client
	keeper *keeper
	// life ends when Claude Code has to; its cause is an endReason.
	life context.Context
	end  context.CancelCauseFunc
	// asked is closed, by the once beside it, at the first model request.
	asked   chan struct{}
	askOnce sync.Once

	mu      sync.Mutex
	refused turn.Code // guarded by mu; the first refusal of a model request
}

// endReason is why the shim ended Claude Code.
type endReason string

func (r endReason) Error() string { return string(r) }

// Main runs the shim of a run directory to its end. An error means that the
// exit record could not be written.
func Main(ctx context.Context, runDir string) error {
	dir := runner.Dir(runDir)
	lock, err := runner.TakeLock(dir)
	if err != nil {
		return fmt.Errorf("start shim: %w", err)
	}
	defer lock.Release()
	plan, err := runner.TakePlan(dir)
	if err != nil {
		return fmt.Errorf("start shim: %w", err)
	}
	s := &shim{dir: dir, plan: plan, keeper: newKeeper(plan.LeaseExpiresAt), asked: make(chan struct{}),
		log: slog.New(slog.NewTextHandler(os.Stderr, nil)).With("run", plan.Run)}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.client = link.NewClient(link.ClientConfig{Socket: plan.Socket, Run: plan.Run, Token: plan.Token,
		Directive: s.keeper.hear, Log: s.log})
	defer s.client.Close()
	return s.conclude(s.run(ctx))
}

// run is the shim's life from hello to the end of Claude Code.
func (s *shim) run(ctx context.Context) link.Exit {
	var watchers sync.WaitGroup
	watching, stop := context.WithCancel(context.Background())
	defer watchers.Wait()
	defer stop()
	watchers.Go(func() {
		if reason := s.keeper.wait(watching); reason != "" {
			s.end(endReason(reason))
		}
	})
	watchers.Go(func() {
		select {
		case <-ctx.Done():
			s.end(endReason("shim was told to end"))
		case <-watching.Done():
		}
	})
	if err := s.client.Hello(s.life); err != nil {
		s.endFor(err)
		return link.Exit{Code: -1}
	}
	watchers.Go(func() { s.watch(watching) })
	return s.serve()
}

// watch keeps the directive fresh until ctx ends.
func (s *shim) watch(ctx context.Context) {
	for {
		seen, _ := s.keeper.look()
		_, err := s.client.Watch(ctx, seen)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.endFor(err)
			return
		}
	}
}

// awaitFirst ends the run if Claude Code does not ask for anything.
func (s *shim) awaitFirst(ctx context.Context) {
	limit := time.NewTimer(firstLimit)
	defer limit.Stop()
	select {
	case <-s.asked:
	case <-ctx.Done():
	case <-limit.C:
		s.end(endReason(turn.NoFirstTurn))
	}
}

// endFor ends the run because the gateway refused something.
func (s *shim) endFor(err error) {
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
		s.end(endReason(refusal.Code))
	} else {
		s.end(endReason(err.Error())) // the run's end itself: it has a cause already
	}
}

// refuse notes that a model request was refused. Claude Code is told so and
// ends by itself; if it does not, it is ended.
func (s *shim) refuse(code turn.Code) {
	s.mu.Lock()
	first := s.refused == ""
	if first {
		s.refused = code
	}
	s.mu.Unlock()
	if first {
		time.AfterFunc(refusedGrace, func() { s.end(endReason(code)) })
	}
}

func (s *shim) refusal() turn.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// conclude completes the exit record, writes it, and tells the gateway.
func (s *shim) conclude(e link.Exit) error {
	e.Run, e.FinishedAt = s.plan.Run, time.Now().UTC()
	if reason, ok := errors.AsType[endReason](context.Cause(s.life)); ok {
		e.Ended, e.EndReason = true, string(reason)
	} else if code := s.refusal(); code != "" {
		// Claude Code ended by itself, because its request was refused.
		e.Ended, e.EndReason = true, string(code)
	}
	s.log.Info("run ended", "code", e.Code, "signal", e.Signal, "ended", e.Ended, "reason", e.EndReason,
		"result", e.Result, "launch", e.LaunchCode)
	err := runner.WriteExit(s.dir, e)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the run was settled and its directory removed
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellLimit)
	defer cancel()
	if err := s.client.Exit(ctx, e); err != nil {
		s.log.Info("gateway was not told of the end", "err", err)
	}
	return err
}
