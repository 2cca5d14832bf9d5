package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"deckhand/gateway/turn"
)

// Prepare makes a write's intent durable, with the content that the file has
// until then. It is the last step before the file changes.
func (l *Ledger) Prepare(id turn.ActionID, intent turn.WriteIntent, before []byte) error {
	l.naming.RLock()
	defer l.naming.RUnlock()
	body, err := l.putBody(before)
	if err != nil {
		return err
	}
	return l.update(func(t *txn) error {
		a, err := t.action(id)
		if err != nil {
			return err
		}
		if a.State != turn.Begun || a.Intent != nil {
			return errors.New("prepare write: the action has not begun, or is prepared")
		}
		if intent.Before.Exists && intent.Before.SHA256 != body.Digest() {
			return fmt.Errorf("prepare write: the content kept has the hash %s, the file %s", body.Digest(), intent.Before.SHA256)
		}
		s, err := t.session(a.Session)
		if err != nil {
			return err
		}
		a.Intent, a.Before = &intent, body
		if err := t.putAction(a); err != nil {
			return err
		}
		return t.event(s, ByGateway, "write.prepared", turn.Event{
			Run: a.Run, Turn: a.Turn, Action: a.ID, Name: a.Name, Bytes: intent.After.Bytes, SHA256: intent.After.SHA256})
	})
}

// Action returns an action.
func (l *Ledger) Action(id turn.ActionID) (ActionRecord, error) {
	var a ActionRecord
	err := l.view(func(t *txn) error {
		var ok bool
		var err error
		if a, ok, err = get[ActionRecord](t, bucketActions, string(id)); err == nil && !ok {
			err = turn.Refuse(turn.NothingToUndo, "there is no action %s", id)
		}
		return err
	})
	return a, err
}

// ByToolUse returns the action of a tool_use id, or call_mismatch.
func (l *Ledger) ByToolUse(id turn.ToolUseID) (ActionRecord, error) {
	var a ActionRecord
	err := l.view(func(t *txn) error {
		action := t.tx.Bucket(bucketToolUses).Get([]byte(id))
		if action == nil {
			return &turn.Refusal{Code: turn.CallMismatch}
		}
		var err error
		a, err = t.action(turn.ActionID(action))
		return err
	})
	return a, err
}

// Unfinished returns the actions of a run's newest reply that have begun and
// have no receipt.
func (l *Ledger) Unfinished(run turn.RunID) ([]ActionRecord, error) {
	var open []ActionRecord
	err := l.view(func(t *txn) error {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		actions, err := t.lastActions(r)
		for _, a := range actions {
			if a.State == turn.Begun || a.State == turn.Interrupted {
				open = append(open, a)
			}
		}
		return err
	})
	return open, err
}

// indexWrite remembers the order of a session's writes.
func (t *txn) indexWrite(a ActionRecord) error {
	b := t.tx.Bucket(bucketWrites)
	seq, err := b.NextSequence()
	if err != nil {
		return err
	}
	return b.Put(binary.BigEndian.AppendUint64([]byte(a.Session), seq), []byte(a.ID))
}

// Writes returns the writes of a session that changed a file, oldest first,
// undone ones included.
func (l *Ledger) Writes(id turn.SessionID) ([]ActionRecord, error) {
	var writes []ActionRecord
	err := l.eachWrite(id, func(a ActionRecord) (more bool) {
		writes = append(writes, a)
		return true
	})
	return writes, err
}

// eachWrite goes through the writes of a session, oldest first, until f wants no
// more.
func (l *Ledger) eachWrite(id turn.SessionID, f func(ActionRecord) (more bool)) error {
	return l.view(func(t *txn) error {
		if _, err := t.session(id); err != nil {
			return err
		}
		for _, v := range t.numbered(bucketWrites, id) {
			a, err := t.action(turn.ActionID(v))
			if err != nil {
				return err
			}
			if !f(a) {
				return nil
			}
		}
		return nil
	})
}

// CanUndo refuses what cannot be taken back: with nothing_to_undo what changed no
// file or was undone, and with undo_unavailable a write of which nobody knows any
// more what the file held before.
func (a ActionRecord) CanUndo() error {
	switch {
	case a.Receipt == nil || a.Receipt.Write == nil || a.Undoes != "":
		return turn.Refuse(turn.NothingToUndo, "%s changed no file", a.ID)
	case a.UndoneBy != "":
		return turn.Refuse(turn.NothingToUndo, "%s was undone already", a.ID)
	case !a.Forgotten.IsZero():
		return turn.Refuse(turn.UndoUnavailable, "what the file held before was dropped on %s; the settings say how long it is kept",
			a.Forgotten.Local().Format(time.DateOnly))
	}
	return nil
}

// Undoable reports whether a session has a write that can be undone.
func (l *Ledger) Undoable(id turn.SessionID) (bool, error) {
	undoable := false
	err := l.eachWrite(id, func(a ActionRecord) (more bool) {
		undoable = a.CanUndo() == nil
		return !undoable
	})
	return undoable, err
}

// BeginUndo records that a person takes a write back: an action of its own,
// begun, that has to be prepared and finished like any write. It refuses with
// nothing_to_undo, undo_unavailable and worktree_removed.
func (l *Ledger) BeginUndo(of turn.ActionID) (ActionRecord, error) {
	var a ActionRecord
	err := l.update(func(t *txn) error {
		undone, ok, err := get[ActionRecord](t, bucketActions, string(of))
		if err != nil {
			return err
		}
		if !ok {
			return turn.Refuse(turn.NothingToUndo, "there is no action %s", of)
		}
		if err := undone.CanUndo(); err != nil {
			return err
		}
		s, err := t.session(undone.Session)
		if err != nil {
			return err
		}
		if err := s.Retired(); err != nil {
			return err
		}
		a = ActionRecord{
			V: recordVersion, ID: turn.NewActionID(), Session: undone.Session, Run: undone.Run, Turn: undone.Turn,
			Undoes: undone.ID, Name: "Undo", State: turn.Begun, BegunAt: t.now, Attempts: 1,
		}
		if err := t.tx.Bucket(bucketUndoing).Put([]byte(a.ID), nil); err != nil {
			return err
		}
		if err := t.putAction(a); err != nil {
			return err
		}
		return t.event(s, ByUser, "undo.begun", turn.Event{Run: a.Run, Turn: a.Turn, Action: a.ID, Name: undone.Name})
	})
	return a, err
}

// finishUndo marks what was undone and leaves a notice for the next turn.
func (t *txn) finishUndo(s *SessionRecord, a ActionRecord, result turn.Result) error {
	if err := t.tx.Bucket(bucketUndoing).Delete([]byte(a.ID)); err != nil {
		return err
	}
	if result.Outcome != turn.OK {
		return nil
	}
	undone, err := t.action(a.Undoes)
	if err != nil {
		return err
	}
	undone.UndoneBy = a.ID
	s.Notices = append(s.Notices, fmt.Sprintf("The user undid %s of %s.", undone.Name, undone.Intent.Path))
	return t.putAction(undone)
}

// OpenUndos returns the undos that have no receipt: what a crash left.
func (l *Ledger) OpenUndos() ([]ActionRecord, error) {
	var undos []ActionRecord
	err := l.view(func(t *txn) error {
		return t.tx.Bucket(bucketUndoing).ForEach(func(id, _ []byte) error {
			a, err := t.action(turn.ActionID(id))
			undos = append(undos, a)
			return err
		})
	})
	return undos, err
}
