package ledger

import (
	"errors"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// Begin answers Claude Code's request for an authorised call: it marks the
// action as begun, durably, before anything is done. The action comes back as
// it is then:
//
//   - Begun: the caller has to run it now, and Finish it.
//   - Finished: it was done before; its receipt is the answer.
//
// A call that was never released, or that differs from what was released, is
// refused with call_mismatch. An interrupted action begins again if repeatable
// says so; else it gets its receipt. An action that this process is running
// already gives ErrActionOpen: wait for it. A write that begins again has no
// intent any more: it makes a new one.
func (l *Ledger) Begin(run turn.RunID, id turn.ToolUseID, name, arguments string,
	inFlight func(turn.ActionID) bool, repeatable func(ActionRecord) bool) (ActionRecord, error) {
	var a ActionRecord
	err := l.update(func(t *txn) error {
		r, s, err := t.openRun(run)
		if err != nil {
			return err
		}
		actionID := t.tx.Bucket(bucketToolUses).Get([]byte(id))
		if actionID == nil {
			return &turn.Refusal{Code: turn.CallMismatch}
		}
		if a, err = t.action(turn.ActionID(actionID)); err != nil {
			return err
		}
		if a.Run != r.ID || a.Turn != r.Last || a.Name != name || a.Arguments.Digest() != digest(arguments) {
			return &turn.Refusal{Code: turn.CallMismatch}
		}
		if inFlight(a.ID) {
			return ErrActionOpen
		}
		switch {
		case a.State == turn.Finished:
			return nil
		case s.Status != turn.Executing:
			return ErrRunSettled
		case a.State != turn.Authorized && !repeatable(a):
			if err := t.close(s, a); err != nil {
				return err
			}
			if err := t.settle(&s, r); err != nil {
				return err
			}
			if err := t.putSession(&s); err != nil {
				return err
			}
			a, err = t.action(a.ID)
			return err
		}
		a.State, a.BegunAt, a.Intent, a.Before = turn.Begun, t.now, nil, Body{}
		a.Attempts++
		if err := t.putAction(a); err != nil {
			return err
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.event(s, ByClaude, "action.begun", turn.Event{Run: r.ID, Turn: a.Turn, Action: a.ID, Name: a.Name})
	})
	return a, err
}

// Finish stores the receipt of an action that has begun, or of an interrupted
// one whose outcome the file told. When it is the last of its turn, the session
// is running again.
func (l *Ledger) Finish(id turn.ActionID, result turn.Result) (ActionRecord, error) {
	if !utf8.ValidString(result.Text) || len(result.Text) > turn.MaxReceiptText {
		return ActionRecord{}, errors.New("finish action: the text is not UTF-8 or over 64 KiB")
	}
	l.naming.RLock()
	defer l.naming.RUnlock()
	text, err := l.putBody([]byte(result.Text))
	if err != nil {
		return ActionRecord{}, err
	}
	var a ActionRecord
	err = l.update(func(t *txn) error {
		var err error
		if a, err = t.action(id); err != nil {
			return err
		}
		if a.State != turn.Begun && a.State != turn.Interrupted {
			return errors.New("finish action: it has not begun, or has its receipt")
		}
		s, err := t.session(a.Session)
		if err != nil {
			return err
		}
		if a.Undoes != "" {
			if err := t.finishUndo(&s, a, result); err != nil {
				return err
			}
		}
		if err := t.finish(s, a, result, text); err != nil {
			return err
		}
		if a, err = t.action(id); err != nil {
			return err
		}
		r, err := t.run(a.Run)
		if err != nil {
			return err
		}
		if err := t.settle(&s, r); err != nil {
			return err
		}
		return t.putSession(&s)
	})
	return a, err
}

// settle moves a session on whose last action got its receipt.
func (t *txn) settle(s *SessionRecord, r RunRecord) error {
	if s.Status != turn.Executing {
		return nil
	}
	actions, err := t.lastActions(r)
	if err != nil {
		return err
	}
	for _, a := range actions {
		if a.State != turn.Finished {
			return nil
		}
	}
	from := s.Status
	if err := t.move(s, turn.Settle); err != nil {
		return err
	}
	return t.changed(*s, from, ByGateway, "turn.settled", turn.Event{Run: r.ID, Turn: r.Last})
}

// finish writes the receipt. It never replaces one.
func (t *txn) finish(s SessionRecord, a ActionRecord, result turn.Result, text Body) error {
	if a.State == turn.Finished {
		return errors.New("finish action: it has its receipt")
	}
	a.State, a.Text = turn.Finished, text
	a.Receipt = &turn.Receipt{
		ID: turn.NewReceiptID(), Action: a.ID, Outcome: result.Outcome, Code: result.Code,
		SHA256: text.Digest(), Bytes: text.Bytes, Truncated: result.Truncated,
		StartedAt: a.BegunAt, FinishedAt: t.now, Attempts: a.Attempts, Write: result.Write,
	}
	if result.Write != nil && a.Undoes == "" {
		if err := t.indexWrite(a); err != nil {
			return err
		}
	}
	if err := t.putAction(a); err != nil {
		return err
	}
	return t.event(s, ByGateway, "action.finished", turn.Event{
		Run: a.Run, Turn: a.Turn, Action: a.ID, Name: a.Name,
		Outcome: result.Outcome, Code: result.Code, Bytes: text.Bytes, SHA256: text.Digest()})
}

// Interrupt marks every action of a run that began, and that this process is
// not running, as interrupted: what the start-up pass finds after a crash.
func (l *Ledger) Interrupt(run turn.RunID) error {
	return l.update(func(t *txn) error {
		r, s, err := t.openRun(run)
		if err != nil {
			return err
		}
		actions, err := t.lastActions(r)
		if err != nil {
			return err
		}
		for _, a := range actions {
			if a.State != turn.Begun {
				continue
			}
			a.State = turn.Interrupted
			if err := t.putAction(a); err != nil {
				return err
			}
			if err := t.event(s, ByGateway, "action.interrupted",
				turn.Event{Run: r.ID, Turn: a.Turn, Action: a.ID, Name: a.Name}); err != nil {
				return err
			}
		}
		return nil
	})
}
