package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// UndoReport says what an undo did, or, for a dry run, would do. Newest write
// first.
type UndoReport struct {
	DryRun bool       `json:"dry_run"`
	Undone []UndoStep `json:"undone"`
	// Conflicts are the writes that were left as they are, with the reason.
	Conflicts []UndoStep `json:"conflicts"`
}

// UndoStep is one write that was taken back, or not.
type UndoStep struct {
	ActionID turn.ActionID `json:"action_id"`
	Name     string        `json:"name"`
	Path     string        `json:"path"`
	// Text says what was done, or why not.
	Text string `json:"text"`
}

// UndoAction takes one write back, if its file still is what the write left.
func (e *Engine) UndoAction(ctx context.Context, id turn.ActionID, dryRun bool) (UndoReport, error) {
	a, err := e.ledger.Action(id)
	if err != nil {
		return UndoReport{}, err
	}
	if err := a.CanUndo(); err != nil {
		return UndoReport{}, err
	}
	return e.undo(ctx, []ledger.ActionRecord{a}, dryRun)
}

// UndoSession takes back every write of a session, newest first. A file that
// somebody else has changed since is left, and so are the older writes to it.
func (e *Engine) UndoSession(ctx context.Context, id turn.SessionID, dryRun bool) (UndoReport, error) {
	writes, err := e.ledger.Writes(id)
	if err != nil {
		return UndoReport{}, err
	}
	writes = slices.DeleteFunc(writes, func(a ledger.ActionRecord) bool { return a.UndoneBy != "" })
	if len(writes) == 0 {
		return UndoReport{}, turn.Refuse(turn.NothingToUndo, "the session has no write that could be undone")
	}
	slices.Reverse(writes)
	return e.undo(ctx, writes, dryRun)
}

func (e *Engine) undo(ctx context.Context, writes []ledger.ActionRecord, dryRun bool) (UndoReport, error) {
	report := UndoReport{DryRun: dryRun, Undone: []UndoStep{}, Conflicts: []UndoStep{}}
	v, err := e.ledger.View(writes[0].Session)
	if err != nil {
		return report, err
	}
	if err := v.Session.Retired(); err != nil {
		return report, err
	}
	// In a dry run a file stands, for the older writes to it, as the newer ones
	// would leave it.
	supposed := map[string]turn.FileState{}
	for _, a := range writes {
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		result, err := e.undoOne(ctx, a, dryRun, supposed)
		if err != nil {
			return report, err
		}
		step := UndoStep{ActionID: a.ID, Name: a.Name, Path: a.Intent.Path, Text: result.Text}
		if result.Outcome == turn.OK {
			report.Undone = append(report.Undone, step)
		} else {
			report.Conflicts = append(report.Conflicts, step)
		}
	}
	return report, nil
}

func (e *Engine) undoOne(ctx context.Context, a ledger.ActionRecord, dryRun bool, supposed map[string]turn.FileState) (turn.Result, error) {
	if unavailable := unavailable(a.CanUndo()); unavailable != nil {
		return *unavailable, nil
	}
	if dryRun {
		present, known := supposed[a.Intent.Path]
		if !known {
			var err error
			if present, _, err = e.cfg.Executor.Look(a.Intent.Path); err != nil {
				return turn.Failure(turn.UndoConflict, "The file cannot be read."), nil
			}
		}
		if present.Exists != a.Intent.After.Exists || present.SHA256 != a.Intent.After.SHA256 {
			return turn.Failure(turn.UndoConflict, "The file has changed since and would be left as it is."), nil
		}
		supposed[a.Intent.Path] = a.Intent.Before
		text := "It would be as it was before."
		if !a.Intent.Before.Exists {
			text = "It would be removed."
		}
		return turn.Result{Outcome: turn.OK, Text: text}, nil
	}
	before, unreadable := e.ledger.Text(a.Before)
	if unreadable != nil {
		// It may have been dropped a moment ago.
		var err error
		if a, err = e.ledger.Action(a.ID); err != nil {
			return turn.Result{}, err
		}
		if unavailable := unavailable(a.CanUndo()); unavailable != nil {
			return *unavailable, nil
		}
		e.cfg.Log.Error("read what a file held before", "action", a.ID, "err", unreadable)
		return turn.Failure(turn.UndoUnavailable, "What the file held before cannot be read."), nil
	}
	undo, err := e.ledger.BeginUndo(a.ID)
	if unavailable := unavailable(err); unavailable != nil {
		return *unavailable, nil
	}
	if err != nil {
		return turn.Result{}, err
	}
	result := e.cfg.Executor.Revert(context.WithoutCancel(ctx), *a.Intent, []byte(before), e.sink(undo.ID))
	if result.Outcome == turn.OutcomeInterrupted {
		// It cannot tell whether it happened: the file decides, as after a crash.
		return e.settleUndo(undo.ID)
	}
	_, err = e.ledger.Finish(undo.ID, result)
	return result, err
}

// unavailable is how the undo of a write ends of which nobody knows any more what
// the file held before, nil for any other error.
func unavailable(err error) *turn.Result {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok || refusal.Code != turn.UndoUnavailable {
		return nil
	}
	result := turn.Failure(refusal.Code, sentence(refusal.Detail))
	return &result
}

// sentence makes the detail of a refusal a text that stands alone.
func sentence(detail string) string { return strings.ToUpper(detail[:1]) + detail[1:] + "." }

// sink is where an action under way tells of itself.
func (e *Engine) sink(id turn.ActionID) executor.Sink {
	return executor.Sink{
		Action:  id,
		Prepare: func(intent turn.WriteIntent, before []byte) error { return e.ledger.Prepare(id, intent, before) },
	}
}
