package session

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// flight is one action under way in this process. The goroutine that runs it
// sets result and closes landed; the loop that owns it then stores the receipt
// and closes stored, after which every request for the same action that joined
// the flight reads the receipt from the ledger.
type flight struct {
	started time.Time
	bytes   atomic.Int64 // produced so far
	result  turn.Result
	landed  chan struct{}
	stored  chan struct{}
}

// begin answers one request of Claude Code for an authorised call: it returns
// the finished action, or the flight to wait for before asking again. It runs
// in the loop.
func (v *live) begin(id turn.ToolUseID, name, arguments string) (ledger.ActionRecord, *flight, error) {
	if err := v.e.resolve(v.run, v.flying); err != nil {
		return ledger.ActionRecord{}, nil, err
	}
	a, err := v.e.ledger.Begin(v.run, id, name, arguments, v.flying, mayRepeat)
	if errors.Is(err, ledger.ErrActionOpen) {
		return a, v.flights[a.ID], nil
	}
	if err != nil || a.State == turn.Finished {
		return a, nil, err
	}
	_, s, err := v.e.ledger.Run(v.run)
	if err != nil {
		return a, nil, err
	}
	// The ledger's arguments count, not those that Claude Code sent back.
	stored, err := v.e.ledger.Text(a.Arguments)
	if err != nil {
		return a, nil, err
	}
	f := &flight{started: a.BegunAt, landed: make(chan struct{}), stored: make(chan struct{})}
	v.flights[a.ID] = f
	call := turn.ToolCall{Name: a.Name, Arguments: []byte(stored)}
	v.e.work.Go(func() {
		f.result = v.e.cfg.Executor.Run(v.ending, scopeOf(s), call, v.e.sink(a.ID, f.bytes.Store))
		close(f.landed)
		// The loop stores the receipt, unless it is waiting for landed itself.
		_ = v.do(context.WithoutCancel(v.e.life), func() { v.land(a.ID, f) })
	})
	return a, f, nil
}

// flying reports whether an action is under way here. It runs in the loop.
func (v *live) flying(id turn.ActionID) bool { return v.flights[id] != nil }

// land stores the receipt of an action that has ended. Once the engine closes
// nothing is stored: the action is interrupted, and begins again when asked.
func (v *live) land(id turn.ActionID, f *flight) {
	if v.flights[id] != f {
		return
	}
	delete(v.flights, id)
	defer close(f.stored)
	if v.e.life.Err() != nil {
		return
	}
	result := f.result
	if result.Outcome == turn.OutcomeInterrupted {
		// A write that cannot tell whether it happened: the file decides when
		// the call comes again, or when the run is settled.
		return
	}
	if v.ending.Err() != nil && result.Outcome != turn.OK {
		result = turn.Result{Outcome: turn.OutcomeCancelled, Code: turn.CancelledCode, Text: "The session was stopped while this call ran."}
	}
	if _, err := v.e.ledger.Finish(id, result); err != nil {
		// Without a receipt the action stays begun; the shim asks again and it
		// begins again, or is settled as interrupted with the run.
		v.e.cfg.Log.Error("store receipt", "action", id, "err", err)
	}
}
