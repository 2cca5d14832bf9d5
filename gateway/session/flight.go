package session

import (
	"context"
	"errors"
	"sync/atomic"

	"deckhand/gateway/crash"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// flight is one action under way in this process, from Begin to its receipt:
//
//	begin (loop) ──► Executor.Run (a goroutine of its own) ──► land (loop)
//	                   writes bytes, then result                 stores the receipt,
//	                                                             closes landed
//
// A request for an action that is under way waits for landed and then reads
// the receipt from the ledger.
type flight struct {
	bytes  atomic.Int64 // produced so far
	lines  atomic.Int64 // the same, of what a command printed
	landed chan struct{}
	// err, set before landed is closed, says that the receipt could not be stored.
	err error
}

// printed takes note of what a command has printed so far.
func (f *flight) printed(bytes, lines int64) {
	f.bytes.Store(bytes)
	f.lines.Store(lines)
}

// begin answers one request of Claude Code for an authorised call: it returns
// the finished action, or the flight to wait for before asking again. It runs
// in the loop.
func (v *live) begin(id turn.ToolUseID, name, arguments string) (ledger.ActionRecord, *flight, error) {
	if err := v.e.resolve(v.run, v.flying); err != nil {
		return ledger.ActionRecord{}, nil, err
	}
	_, s, err := v.e.ledger.Run(v.run)
	if err != nil {
		return ledger.ActionRecord{}, nil, err
	}
	a, err := v.e.ledger.Begin(v.run, id, name, arguments, v.flying, mayRepeat)
	if errors.Is(err, ledger.ErrActionOpen) {
		return a, v.flight(a.ID), nil
	}
	if err != nil || a.State == turn.Finished {
		return a, nil, err
	}
	f := &flight{landed: make(chan struct{})}
	v.flights.Store(a.ID, f)
	v.inFlight++
	// These arguments are the ledger's: Begin compared their digests.
	call := turn.ToolCall{Name: a.Name, Arguments: []byte(arguments)}
	v.e.actions.Go(func() {
		sink := v.e.sink(a.ID)
		sink.Progress, sink.Output = f.bytes.Store, f.printed
		result := v.e.cfg.Executor.Run(v.ending, scopeOf(s), call, sink)
		// The loop waits for every flight before it ends, but for those that it
		// gave up when the engine closed: they store nothing.
		_ = v.do(context.WithoutCancel(v.e.life), func() { v.land(a, f, result) })
	})
	return a, f, nil
}

// flight returns an action under way, or nil.
func (v *live) flight(id turn.ActionID) *flight {
	f, ok := v.flights.Load(id)
	if !ok {
		return nil
	}
	return f.(*flight)
}

// flying reports whether an action is under way here.
func (v *live) flying(id turn.ActionID) bool { return v.flight(id) != nil }

// land stores the receipt of an action that has ended. It runs in the loop.
func (v *live) land(a ledger.ActionRecord, f *flight, result turn.Result) {
	v.flights.Delete(a.ID)
	v.inFlight--
	defer close(f.landed)
	switch {
	case result.Outcome == turn.OutcomeInterrupted:
		// A write that cannot tell whether it happened: the file decides when
		// the call comes again, or when the run is settled.
		return
	case result.Outcome == turn.OutcomeCancelled && v.e.life.Err() != nil && mayRepeat(a):
		// Given up because the engine closes: it begins again when its shim asks
		// the next gateway for it. A command does not: its receipt says what it
		// came to.
		return
	}
	if _, err := v.e.ledger.Finish(a.ID, result); err != nil {
		// Without a receipt the action stays begun; the shim asks again and it
		// begins again, or is settled as interrupted with the run.
		v.e.cfg.Log.Error("store receipt", "action", a.ID, "err", err)
		f.err = err
	}
	crash.At(crash.BeforeShimAnswer)
}
