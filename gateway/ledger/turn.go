package ledger

import (
	"slices"
	"time"

	"deckhand/gateway/turn"
)

// Tail is what a model request ends with, as the shim saw it.
type Tail struct {
	// Prompt says that it is the run's prompt; else ToolUses are the ids whose
	// results it holds.
	Prompt   bool
	ToolUses []turn.ToolUseID
}

// Offer records a model request as a turn and publishes it. The same digest as
// the newest turn's is that turn again, answered or not. Anything that is
// neither the prompt of a new run nor the results of exactly the calls last
// released is refused with unexpected_model_request. ErrRunSettled tells the
// shim to end, ErrActionOpen that a call of the turn before is under way.
func (l *Ledger) Offer(id turn.RunID, digest string, tail Tail, inFlight func(turn.ActionID) bool) (TurnRecord, error) {
	var offered TurnRecord
	err := l.update(func(t *txn) error {
		r, s, err := t.openRun(id)
		if err != nil {
			return err
		}
		if s.Status == turn.Stopping || s.Status == turn.LeaseExpired {
			return ErrRunSettled
		}
		if r.Last != "" {
			last, err := t.turn(r.Last)
			if err != nil {
				return err
			}
			if last.Digest == digest {
				offered = last
				return nil
			}
		}
		if err := t.expected(r, tail); err != nil {
			return err
		}
		if err := t.closeActions(s, r, inFlight); err != nil {
			return err
		}
		from := s.Status
		if err := t.move(&s, turn.Offer); err != nil {
			return err
		}
		// Results and notices stay with the session until the turn is answered,
		// so that a run that is lost before loses none.
		offered = TurnRecord{
			V: recordVersion, ID: turn.NewTurnID(), Session: s.ID, Run: r.ID, Sequence: r.Turns + 1, Prev: r.Last,
			Digest: digest, OpenedAt: t.now, Results: s.Undelivered, Notices: s.Notices,
		}
		s.Pending, r.Last, r.Turns = offered.ID, offered.ID, offered.Sequence
		if err := t.putTurn(offered); err != nil {
			return err
		}
		if err := t.putRun(r); err != nil {
			return err
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.changed(s, from, ByClaude, "turn.opened", turn.Event{Run: r.ID, Turn: offered.ID, SHA256: digest})
	})
	return offered, err
}

// expected checks that a new request is the one that can come next.
func (t *txn) expected(r RunRecord, tail Tail) error {
	unexpected := &turn.Refusal{Code: turn.UnexpectedModelRequest}
	if r.Last == "" {
		if !tail.Prompt {
			return unexpected
		}
		return nil
	}
	actions, err := t.lastActions(r)
	if err != nil {
		return err
	}
	var released []turn.ToolUseID
	for _, a := range actions {
		released = append(released, a.ToolUse)
	}
	if tail.Prompt || len(released) == 0 || !slices.Equal(released, tail.ToolUses) {
		return unexpected
	}
	return nil
}

// ReplyInput is the one answer to a turn. Calls are checked and canonical.
type ReplyInput struct {
	Input
	Session  turn.SessionID
	Lease    turn.LeaseID
	Turn     turn.TurnID
	Text     string
	Calls    []turn.ToolCall
	LeaseFor time.Duration
}

// Reply records an answer and authorises its calls, in one transaction. The
// tool_use ids are made here. It refuses with turn_not_pending and as the
// status table says.
func (l *Ledger) Reply(in ReplyInput) (Effect, error) {
	l.naming.RLock()
	defer l.naming.RUnlock()
	text, err := l.putBody([]byte(in.Text))
	if err != nil {
		return Effect{}, err
	}
	arguments := make([]Body, len(in.Calls))
	for i, c := range in.Calls {
		if arguments[i], err = l.putBody(c.Arguments); err != nil {
			return Effect{}, err
		}
	}
	var e Effect
	err = l.update(func(t *txn) error {
		s, replayed, err := t.claim(in.Session, in.Lease, in.Input, turn.CallReply)
		if err != nil {
			return err
		}
		if replayed {
			e, err = t.replay(s.ID, in.Lease)
			return err
		}
		if s.Pending != in.Turn {
			return turn.Refuse(turn.TurnNotPending, "the pending turn is %s", s.Pending)
		}
		pending, err := t.turn(s.Pending)
		if err != nil {
			return err
		}
		r, err := t.run(pending.Run)
		if err != nil {
			return err
		}
		from, verb := s.Status, turn.Answer
		if len(in.Calls) == 0 {
			verb, r.Concluded = turn.Conclude, true
		}
		if err := t.move(&s, verb); err != nil {
			return err
		}
		delivered := pending.Results
		s.Undelivered = slices.DeleteFunc(slices.Clone(s.Undelivered), func(id turn.ActionID) bool {
			return slices.Contains(delivered, id)
		})
		s.Notices = s.Notices[len(pending.Notices):]
		pending.Reply = &ReplyRecord{ReplyID: in.Key, Text: text, At: t.now}
		for i, c := range in.Calls {
			a := ActionRecord{
				V: recordVersion, ID: turn.NewActionID(), Session: s.ID, Run: r.ID, Turn: pending.ID,
				ToolUse: turn.NewToolUseID(), Name: c.Name, Arguments: arguments[i], State: turn.Authorized,
			}
			if err := t.putAction(a); err != nil {
				return err
			}
			if err := t.tx.Bucket(bucketToolUses).Put([]byte(a.ToolUse), []byte(a.ID)); err != nil {
				return err
			}
			pending.Reply.Actions = append(pending.Reply.Actions, a.ID)
			s.Undelivered = append(s.Undelivered, a.ID)
		}
		r.Actions += len(in.Calls)
		s.Brief = false
		s.Lease = s.Lease.Use()
		s.Lease.ExpiresAt = t.now.Add(in.LeaseFor)
		if err := t.putTurn(pending); err != nil {
			return err
		}
		if err := t.putRun(r); err != nil {
			return err
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		if err := t.putEffect(in.Input, s); err != nil {
			return err
		}
		e = Effect{Session: s, Run: r, Holds: true}
		return t.changed(s, from, ByChatGPT, "turn.answered",
			turn.Event{Run: r.ID, Turn: pending.ID, Bytes: text.Bytes, SHA256: text.Digest()})
	})
	return e, err
}
