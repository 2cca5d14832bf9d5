package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

var background = context.Background()

// recordedRows are a write with its record in the real ledger: begun, prepared
// with the content from before, and finished with its receipt. They have no
// goal: by hand nothing of that is kept.
var recordedRows = []row{recordedRow("Edit", 1<<10, 40), recordedRow("Edit", 1<<20, 20), recordedRow("Edit", 50<<20, 7), recordedRow("Write", 700<<10, 20)}

func recordedRow(tool string, s size, pairs int) row {
	return row{what: fmt.Sprintf("%s of %s, with its record in the ledger", tool, s), against: byHandWords, pairs: pairs, open: func(dir string) (sides, error) {
		w, err := newWriter(dir, tool, s)
		if err != nil {
			return sides{}, err
		}
		r, err := newRecorder(filepath.Join(dir, "state", "ledger"))
		if err != nil {
			return sides{}, err
		}
		return sides{theirs: w.byHand, close: r.Close, ours: func() (time.Duration, error) {
			call := w.next()
			a, err := r.authorize(call)
			if err != nil {
				return 0, err
			}
			start := time.Now()
			if _, err := r.Begin(a.Run, a.ToolUse, a.Name, string(call.Arguments), noAction, noRepeat); err != nil {
				return 0, err
			}
			err = w.run(call, executor.Sink{Action: a.ID, Prepare: func(i turn.WriteIntent, before []byte) error { return r.Prepare(a.ID, i, before) }})
			if err != nil {
				return 0, err
			}
			if _, err := r.Finish(a.ID, w.last); err != nil {
				return 0, err
			}
			return time.Since(start), nil
		}}, nil
	}}
}

// recorder is a ledger with one session under way.
type recorder struct {
	*ledger.Ledger
	session ledger.Effect
	turns   int
	last    []turn.ToolUseID
}

func newRecorder(dir string) (*recorder, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := ledger.Open(ledger.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	r := &recorder{Ledger: l}
	r.session, err = l.Start(ledger.StartInput{
		Input: ledger.Input{Scope: ledger.ScopeOf("start", ""), Key: "bench", Digest: "bench"}, ID: turn.NewSessionID(),
		ClaudeSession: "11111111-1111-4111-8111-111111111111", Profile: turn.ReadOnly, Subagent: turn.NoSubagent,
		WorkingDirectory: "/", Prompt: "measure", LeaseFor: time.Hour, MaxLive: 1,
	})
	if err == nil {
		_, err = l.Attach(r.session.Run.ID)
	}
	return r, err
}

func noAction(turn.ActionID) bool       { return false }
func noRepeat(ledger.ActionRecord) bool { return false }

// authorize takes the session through a turn whose reply is one call.
func (r *recorder) authorize(call turn.ToolCall) (ledger.ActionRecord, error) {
	r.turns++
	key := fmt.Sprintf("turn-%d", r.turns)
	rec, err := r.Offer(r.session.Run.ID, key, ledger.Tail{Prompt: r.turns == 1, ToolUses: r.last}, noAction)
	if err != nil {
		return ledger.ActionRecord{}, err
	}
	s := r.session.Session
	if _, err := r.Reply(ledger.ReplyInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("reply", string(s.ID), string(rec.ID)), Key: turn.Key(key), Digest: key},
		Session: s.ID, Lease: s.Lease.ID, Turn: rec.ID, Calls: []turn.ToolCall{call}, LeaseFor: time.Hour,
	}); err != nil {
		return ledger.ActionRecord{}, err
	}
	v, err := r.Turn(rec.ID)
	if err != nil {
		return ledger.ActionRecord{}, err
	}
	a := v.Actions[0]
	r.last = []turn.ToolUseID{a.ToolUse}
	return a, nil
}
