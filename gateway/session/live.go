package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/link"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

// killAfter is how long a shim of ours may take to end a run before it is
// killed, which takes its Claude Code with it.
const killAfter = 15 * time.Second

// landLimit is how long a closing engine waits for actions that it cancelled.
const landLimit = 5 * time.Second

// Bounds of how often a run whose shim is not connected is looked at.
const (
	probeSoon  = 50 * time.Millisecond
	probeLater = time.Second
)

// live owns one run that has not ended. Everything that depends on which
// actions are under way goes through its mailbox.
type live struct {
	e       *Engine
	run     turn.RunID
	session turn.SessionID
	handle  *runner.Handle // nil for a run that an earlier gateway started
	mail    chan func()
	done    chan struct{} // closed when the loop has returned
	// watchers counts the shim's open watch requests: it is attached while
	// there is one.
	watchers atomic.Int32
	// flights are the actions under way, by turn.ActionID. The loop alone
	// changes it; others look how far an action is.
	flights sync.Map

	// The fields below belong to the loop.

	inFlight int // how many flights there are
	// ending is set when the run is to end; actions are cancelled by it.
	ending   context.Context
	endNow   context.CancelCauseFunc
	killAt   <-chan time.Time
	probe    *time.Timer
	probeGap time.Duration
	settled  bool
}

func newLive(e *Engine, run turn.RunID, session turn.SessionID, handle *runner.Handle) *live {
	v := &live{
		e: e, run: run, session: session, handle: handle,
		mail: make(chan func()), done: make(chan struct{}),
		probe: time.NewTimer(probeSoon), probeGap: probeSoon,
	}
	v.ending, v.endNow = context.WithCancelCause(e.life)
	return v
}

// do runs f in the loop and waits for it. If the loop has ended it fails with
// ErrRunSettled, or with errClosing if that is why; else with the cause of ctx.
func (v *live) do(ctx context.Context, f func()) error {
	ran := make(chan struct{})
	select {
	case v.mail <- func() { f(); close(ran) }:
		<-ran
		return nil
	case <-v.done:
		if !v.settled {
			return errClosing
		}
		return ledger.ErrRunSettled
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loop runs until the run has ended, or until the engine closes and every
// action under way has landed or landLimit has passed.
func (v *live) loop() {
	defer close(v.done)
	defer v.probe.Stop()
	var reaped <-chan struct{}
	if v.handle != nil {
		reaped = v.handle.Done()
	}
	closing := v.e.life.Done()
	var giveUp <-chan time.Time
	for !v.settled && (closing != nil || v.inFlight > 0) {
		changed := v.e.hub.changes(v.session)
		v.obey()
		select {
		case f := <-v.mail:
			f()
		case <-changed:
		case <-reaped:
			reaped = nil
			v.lookNow()
		case <-v.probe.C:
			v.look()
		case <-v.killAt:
			v.killAt = nil
			v.kill()
		case <-closing:
			closing, giveUp = nil, time.After(landLimit)
		case <-giveUp:
			v.e.cfg.Log.Error("actions that do not end are given up", "run", v.run, "actions", v.inFlight)
			return
		}
	}
}

// obey looks whether the ledger wants the run to end, and begins that once.
// The shim hears of it by its watch; what is left here is to cancel actions.
func (v *live) obey() {
	if v.killAt != nil || v.ending.Err() != nil {
		return
	}
	_, s, err := v.e.ledger.Run(v.run)
	if err != nil {
		v.e.cfg.Log.Error("read run", "run", v.run, "err", err)
		return
	}
	if s.Status == turn.Stopping || s.Status == turn.LeaseExpired {
		v.endNow(&turn.Refusal{Code: turn.CancelledCode})
		v.killAt = time.After(killAfter)
	}
}

// kill ends a shim that did not end its run in time. One that an earlier
// gateway started is not ours to signal: its pid could be anybody's by now.
func (v *live) kill() {
	if v.handle == nil {
		v.e.cfg.Log.Error("a shim of an earlier gateway does not end its run", "run", v.run)
		return
	}
	v.e.cfg.Log.Error("a shim did not end its run in time and is killed", "run", v.run)
	v.handle.Kill()
}

// lookNow makes the loop look at the run's lock soon.
func (v *live) lookNow() {
	v.probeGap = probeSoon
	v.probe.Reset(0)
}

// look settles the run if its shim is gone, and else looks again later while
// the shim is not connected.
func (v *live) look() {
	alive, err := v.e.cfg.Runner.Alive(v.run)
	if err != nil {
		v.e.cfg.Log.Error("look at run", "run", v.run, "err", err)
	}
	if !alive && err == nil {
		v.settle()
		return
	}
	if v.attached() {
		return
	}
	v.probe.Reset(v.probeGap)
	v.probeGap = min(v.probeGap*2, probeLater)
}

func (v *live) attached() bool { return v.watchers.Load() > 0 }

// settle records the end of a run whose shim is gone. Its actions are cancelled
// first, because nobody will ask for their results any more; while one is still
// under way the loop comes back.
func (v *live) settle() {
	v.endNow(&turn.Refusal{Code: turn.CancelledCode})
	if v.inFlight > 0 {
		v.probe.Reset(probeSoon)
		return
	}
	if err := v.e.settleRun(v.run); err != nil {
		v.e.cfg.Log.Error("settle run", "run", v.run, "err", err)
		v.probe.Reset(probeLater)
		return
	}
	v.settled = true
}

// settleRun closes a run by what its shim left, in the ledger and on disk.
func (e *Engine) settleRun(run turn.RunID) error {
	exit, recorded, err := e.cfg.Runner.Exit(run)
	if err != nil {
		return err
	}
	// A shim may have ended its run because the lease passed, before anybody
	// here looked at the clock.
	if _, err := e.ledger.ExpireDue(); err != nil {
		return err
	}
	r, _, err := e.ledger.Run(run)
	if errors.Is(err, ledger.ErrRunSettled) {
		// It ended, and its session was removed, before its folder was.
		return e.cfg.Runner.Remove(run)
	}
	if err != nil {
		return err
	}
	if err := e.resolve(run, func(turn.ActionID) bool { return false }); err != nil && !errors.Is(err, ledger.ErrRunSettled) {
		return err
	}
	end := endOf(r, exit, recorded)
	if end.Changes, err = e.changesOf(r); err != nil {
		return err
	}
	s, err := e.ledger.EndRun(run, end)
	if err != nil && !errors.Is(err, ledger.ErrRunSettled) {
		return err
	}
	e.cfg.Log.Info("run ended", "session", s.ID, "run", run, "status", s.Status,
		"exit", exit.Code, "signal", exit.Signal, "turns", r.Turns)
	return e.cfg.Runner.Remove(run)
}

// shimLeasePassed is the reason that a shim gives when it ended its run by
// itself because the lease it last heard of had passed.
const shimLeasePassed = "lease passed"

// endOf says how a run ended by its record and by what its shim left.
func endOf(r ledger.RunRecord, exit link.Exit, recorded bool) ledger.End {
	switch {
	case exit.LaunchCode != "":
		return ledger.End{Verb: turn.Fail, Code: exit.LaunchCode, LaunchMessage: exit.LaunchError}
	case !recorded && r.Turns > 0:
		return ledger.End{Verb: turn.Lose, Code: turn.ShimLost}
	case exit.EndReason == shimLeasePassed:
		return ledger.End{Verb: turn.Fail, Code: turn.LeaseExpiredCode}
	case exit.EndReason == string(turn.UnexpectedModelRequest):
		return ledger.End{Verb: turn.Fail, Code: turn.UnexpectedModelRequest}
	case r.Turns == 0:
		return ledger.End{Verb: turn.Fail, Code: turn.NoFirstTurn}
	case r.Concluded && exit.Code == 0 && exit.Result && !exit.IsError:
		return ledger.End{Verb: turn.Complete}
	}
	return ledger.End{Verb: turn.Fail, Code: turn.ClaudeExited}
}
