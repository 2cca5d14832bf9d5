package session

import (
	"fmt"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// mayRepeat reports whether an action that began and has no receipt may begin
// again: a read always, a write once resolve has seen that it did not happen.
// It is asked inside a transaction and touches nothing but the record.
func mayRepeat(a ledger.ActionRecord) bool {
	return executor.Repeatable(a.Name) || executor.Writes(a.Name)
}

// resolve lets the files decide about every write of a run that began and has
// no receipt: one that happened gets its receipt, one that did not may begin
// again, and one that nobody can tell ends the session, with what was found.
// Actions under way here are left alone.
func (e *Engine) resolve(run turn.RunID, flying func(turn.ActionID) bool) error {
	open, err := e.ledger.Unfinished(run)
	if err != nil {
		return err
	}
	for _, a := range open {
		if flying(a.ID) || !executor.Writes(a.Name) {
			continue
		}
		if err := e.resolveWrite(a); err != nil {
			return fmt.Errorf("resolve %s: %w", a.ID, err)
		}
	}
	return nil
}

// resolveWrite decides about one write, an undo or Claude Code's.
func (e *Engine) resolveWrite(a ledger.ActionRecord) error {
	if a.Intent == nil {
		return nil // it was not prepared, so nothing happened
	}
	state, found := e.cfg.Executor.Settle(*a.Intent)
	switch state {
	case turn.WriteNotDone:
		return nil
	case turn.WriteDone:
		_, err := e.ledger.Finish(a.ID, turn.Result{
			Outcome: turn.OK, Text: fmt.Sprintf("Done. A crash came before the answer; %s.", found),
			Write: a.Intent.Mark(),
		})
		return err
	}
	if _, err := e.ledger.Finish(a.ID, turn.Result{
		Outcome: turn.OutcomeInterrupted, Code: turn.WriteIndeterminate,
		Text: fmt.Sprintf("A crash interrupted this write, and nobody can tell whether it happened: %s. Nothing was repeated.", found),
	}); err != nil {
		return err
	}
	_, err := e.ledger.Stop(ledger.StopInput{
		Input: ledger.Input{Key: turn.Key(a.ID)}, Session: a.Session, By: ledger.ByGateway,
		Reason: fmt.Sprintf("%s of %s was interrupted by a crash: %s", a.Name, a.Intent.Path, found),
	})
	return err
}

// resolveUndos finishes the undos that a crash interrupted.
func (e *Engine) resolveUndos() error {
	undos, err := e.ledger.OpenUndos()
	if err != nil {
		return err
	}
	for _, a := range undos {
		if _, err := e.settleUndo(a.ID); err != nil {
			return err
		}
	}
	return nil
}

// settleUndo lets the file decide about an undo without a receipt, gives it one
// and returns what that says.
func (e *Engine) settleUndo(id turn.ActionID) (turn.Result, error) {
	a, err := e.ledger.Action(id)
	if err != nil {
		return turn.Result{}, err
	}
	if err := e.resolveWrite(a); err != nil {
		return turn.Result{}, err
	}
	if a, err = e.ledger.Action(id); err != nil {
		return turn.Result{}, err
	}
	if a.State != turn.Finished {
		// It did not happen, and a person who still wants it asks again.
		if a, err = e.ledger.Finish(id, turn.Result{
			Outcome: turn.OutcomeNotExecuted, Code: turn.NotExecuted, Text: "The undo was interrupted before it began; the file is unchanged.",
		}); err != nil {
			return turn.Result{}, err
		}
	}
	text, err := e.ledger.Text(a.Text)
	return turn.Result{Outcome: a.Receipt.Outcome, Code: a.Receipt.Code, Text: text, Write: a.Receipt.Write}, err
}
