package ledger

import (
	"fmt"

	"deckhand/gateway/turn"
)

// beginRun records a new run of s, whose status the caller has already moved.
// It refuses with worktree_removed.
func (t *txn) beginRun(s *SessionRecord, prompt Body) (RunRecord, error) {
	if err := s.Retired(); err != nil {
		return RunRecord{}, err
	}
	if t.hasOpenRun(*s) {
		return RunRecord{}, ErrRunOpen
	}
	r := RunRecord{V: recordVersion, ID: turn.NewRunID(), Session: s.ID, Number: s.Runs + 1, Prev: s.Run, Prompt: prompt, Started: t.now}
	s.Run, s.Runs, s.Brief, s.LaunchError, s.Terminal = r.ID, r.Number, true, nil, nil
	if err := t.tx.Bucket(bucketOpen).Put([]byte(s.ID), []byte(r.ID)); err != nil {
		return r, err
	}
	return r, t.putRun(r)
}

// openRun returns an open run and its session, or ErrRunSettled.
func (t *txn) openRun(id turn.RunID) (RunRecord, SessionRecord, error) {
	r, ok, err := get[RunRecord](t, bucketRuns, string(id))
	if err != nil {
		return r, SessionRecord{}, err
	}
	if !ok || !r.Open() {
		return r, SessionRecord{}, ErrRunSettled
	}
	s, err := t.session(r.Session)
	return r, s, err
}

// Attach notes that the run's shim said hello. ErrRunSettled tells it to end.
func (l *Ledger) Attach(id turn.RunID) (SessionRecord, error) {
	var s SessionRecord
	err := l.update(func(t *txn) error {
		var err error
		if _, s, err = t.openRun(id); err != nil {
			return err
		}
		if s.Status != turn.Starting {
			return nil
		}
		from := s.Status
		if err := t.move(&s, turn.Attach); err != nil {
			return err
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.changed(s, from, ByGateway, "run.attached", turn.Event{Run: id})
	})
	return s, err
}

// End is how a run ended, as far as anybody saw.
type End struct {
	// Verb is turn.Complete, turn.Fail or turn.Lose: what happened if nobody
	// asked for the end. A session that is stopping or whose lease has expired
	// takes the outcome that this implies instead.
	Verb turn.Verb
	// Code says why, for Fail and Lose.
	Code turn.Code
	// LaunchMessage is the public sentence for a run that never started.
	LaunchMessage string
	// Changes is what the run changed, encoded, or "".
	Changes string
}

// EndRun closes a run: actions that never began and actions whose outcome
// nobody knows get their receipts, and the session moves on. No action of it
// may be under way in this process. A run that has ended already is no error.
func (l *Ledger) EndRun(id turn.RunID, end End) (SessionRecord, error) {
	l.naming.RLock()
	defer l.naming.RUnlock()
	changes, err := l.putBody([]byte(end.Changes))
	if err != nil {
		return SessionRecord{}, err
	}
	var s SessionRecord
	err = l.update(func(t *txn) error {
		r, ok, err := get[RunRecord](t, bucketRuns, string(id))
		if err != nil {
			return err
		}
		if !ok {
			return ErrRunSettled
		}
		if s, err = t.session(r.Session); err != nil || !r.Open() {
			return err
		}
		if err := t.closeActions(s, r, func(turn.ActionID) bool { return false }); err != nil {
			return err
		}
		text, err := t.finalText(r)
		if err != nil {
			return err
		}
		from := s.Status
		if err := t.endStatus(&s, &r, end); err != nil {
			return err
		}
		r.Ended = t.now
		switch r.Outcome {
		case RunFailed, RunLost:
			r.Code = end.Code
		case RunExpired:
			r.Code = turn.LeaseExpiredCode
		}
		if end.LaunchMessage != "" && r.Outcome == RunFailed {
			s.LaunchError = &LaunchRecord{Code: end.Code, Message: end.LaunchMessage}
		}
		s.LastResult = &ResultRecord{Run: r.ID, Outcome: r.Outcome, Text: text, FinishedAt: t.now, Changes: changes}
		if err := t.tx.Bucket(bucketOpen).Delete([]byte(s.ID)); err != nil {
			return err
		}
		if err := t.putRun(r); err != nil {
			return err
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.changed(s, from, ByGateway, "run.ended",
			turn.Event{Run: r.ID, Code: r.Code, Bytes: text.Bytes, SHA256: text.Digest(), Outcome: outcomeOf(r.Outcome)})
	})
	return s, err
}

// endStatus decides the run's outcome and moves the session.
func (t *txn) endStatus(s *SessionRecord, r *RunRecord, end End) error {
	// A run that came to its result has it, whatever was asked for meanwhile.
	completed := end.Verb == turn.Complete && r.Concluded
	switch s.Status {
	case turn.Stopping:
		r.Outcome = RunStopped
		if completed {
			r.Outcome = RunCompleted
		}
		return t.halt(s)
	case turn.LeaseExpired:
		r.Outcome = RunExpired
		if completed {
			r.Outcome = RunCompleted
		}
		return nil
	}
	verb := end.Verb
	if verb == turn.Complete && !r.Concluded {
		return fmt.Errorf("end run: complete without a concluding reply")
	}
	switch verb {
	case turn.Complete:
		r.Outcome = RunCompleted
	case turn.Fail:
		r.Outcome = RunFailed
		s.Terminal = &TerminalRecord{Outcome: RunFailed, Code: end.Code, At: t.now}
	case turn.Lose:
		r.Outcome = RunLost
		s.Terminal = &TerminalRecord{Outcome: RunLost, Code: end.Code, At: t.now}
	default:
		return fmt.Errorf("end run: %q does not end a run", verb)
	}
	return t.move(s, verb)
}

// closeActions gives a receipt to each action of the run's last reply that has
// none, or returns ErrActionOpen.
func (t *txn) closeActions(s SessionRecord, r RunRecord, inFlight func(turn.ActionID) bool) error {
	actions, err := t.lastActions(r)
	if err != nil {
		return err
	}
	for _, a := range actions {
		if a.State == turn.Finished {
			continue
		}
		if inFlight(a.ID) {
			return ErrActionOpen
		}
		if err := t.close(s, a); err != nil {
			return err
		}
	}
	return nil
}

// close gives a receipt to an action that nobody will finish.
func (t *txn) close(s SessionRecord, a ActionRecord) error {
	result := turn.Result{Outcome: turn.OutcomeNotExecuted, Code: turn.NotExecuted,
		Text: "This call was authorised and never began: Claude Code did not ask for it. Nothing was done."}
	if a.State != turn.Authorized {
		// A write whose outcome could be told from the file has its receipt by
		// now: see Resolve.
		result = turn.Result{Outcome: turn.OutcomeInterrupted, Code: turn.InterruptedCode,
			Text: "This call began and was interrupted before its result was known."}
	}
	if len(result.Text) > maxInline {
		return fmt.Errorf("close action: text of %d bytes", len(result.Text))
	}
	body := Body{SHA256: digest(result.Text), Bytes: int64(len(result.Text)), Inline: result.Text}
	return t.finish(s, a, result, body)
}

// lastActions returns the actions of the run's newest reply, in order.
func (t *txn) lastActions(r RunRecord) ([]ActionRecord, error) {
	if r.Last == "" {
		return nil, nil
	}
	last, err := t.turn(r.Last)
	if err != nil || last.Reply == nil {
		return nil, err
	}
	actions := make([]ActionRecord, len(last.Reply.Actions))
	for i, id := range last.Reply.Actions {
		if actions[i], err = t.action(id); err != nil {
			return nil, err
		}
	}
	return actions, nil
}

// finalText returns the text of the reply that concluded the run.
func (t *txn) finalText(r RunRecord) (Body, error) {
	if !r.Concluded {
		return Body{}, nil
	}
	last, err := t.turn(r.Last)
	if err != nil {
		return Body{}, err
	}
	return last.Reply.Text, nil
}

func outcomeOf(o RunOutcome) turn.Outcome {
	if o == RunCompleted {
		return turn.OK
	}
	return turn.Error
}
