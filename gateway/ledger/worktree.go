package ledger

import (
	"errors"
	"fmt"
	"time"

	"deckhand/gateway/turn"
)

// WorktreeMade records the worktree of a session, once and for all.
func (l *Ledger) WorktreeMade(id turn.SessionID, tree []byte, identity turn.FileIdentity) error {
	return l.update(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		if len(s.Workspace.Plan) == 0 || len(s.Workspace.Tree) != 0 {
			return errors.New("record worktree: the session has none to come")
		}
		s.Workspace.Tree, s.Workspace.Identity = tree, identity
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.event(s, ByGateway, "worktree.made", turn.Event{})
	})
}

// Retired refuses with worktree_removed what needs the worktree of a session
// that a person has it removed from, and says how far that is. It is nil for
// every other session.
func (s SessionRecord) Retired() error {
	switch w := s.Workspace; {
	case w.Retired.IsZero():
		return nil
	case w.Removed.IsZero():
		return turn.Refuse(turn.WorktreeRemoved,
			"the worktree of session %s is being removed; if that was interrupted, complete it with: deckhand worktrees remove %[1]s", s.ID)
	default:
		return turn.Refuse(turn.WorktreeRemoved, "the worktree of session %s was removed; what was committed is on its branch %s", s.ID, w.Branch)
	}
}

// ownWorktree returns a session whose worktree is there as far as the ledger
// knows. It refuses with unknown_session, no_worktree and, if something may be
// writing in the worktree, run_active.
func (t *txn) ownWorktree(id turn.SessionID) (SessionRecord, error) {
	s, err := t.session(id)
	if err != nil {
		return s, err
	}
	if err := s.HasWorktree(); err != nil {
		return s, err
	}
	if t.hasOpenRun(s) {
		return s, turn.Refuse(turn.RunActive, "a run of the session is going on; let it end, or end it with: deckhand stop %s", id)
	}
	return s, nil
}

// HasWorktree refuses with no_worktree a session that has no worktree, or none
// yet. It is nil also for one whose worktree was removed: see Retired.
func (s SessionRecord) HasWorktree() error {
	switch w := s.Workspace; {
	case w.Kind != "worktree":
		return turn.Refuse(turn.NoWorktree, "session %s has no worktree: its profile is %s", s.ID, s.Profile)
	case len(w.Tree) == 0:
		return turn.Refuse(turn.NoWorktree, "the worktree of session %s has not been made yet", s.ID)
	}
	return nil
}

// RetireWorktree records that a person has a session's worktree removed, before
// anything of it is: from then on no run of the session begins, and no undo.
// It is the first half of a removal, of which WorktreeRemoved is the second and
// KeepWorktree the way back; a removal that a crash interrupted between the two
// is begun again by the same call, which then changes nothing. It refuses with
// no_worktree, run_active, worktree_removed if the removal is done, and
// worktree_busy while an undo is under way.
func (l *Ledger) RetireWorktree(id turn.SessionID) error {
	return l.update(func(t *txn) error {
		s, err := t.ownWorktree(id)
		if err != nil {
			return err
		}
		if !s.Workspace.Retired.IsZero() {
			if s.Workspace.Removed.IsZero() {
				return nil
			}
			return s.Retired()
		}
		if busy, err := t.undoing(id); err != nil || busy {
			return errors.Join(err, turn.Refuse(turn.WorktreeBusy, "an undo in the worktree is under way; try again"))
		}
		s.Workspace.Retired = t.now
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.event(s, ByUser, "worktree.removing", turn.Event{})
	})
}

// KeepWorktree takes a RetireWorktree back: nothing was removed, and the
// session can go on. Code says why.
func (l *Ledger) KeepWorktree(id turn.SessionID, code turn.Code) error {
	return l.update(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		if s.Workspace.Retired.IsZero() || !s.Workspace.Removed.IsZero() {
			return errors.New("keep worktree: it is not being removed")
		}
		s.Workspace.Retired = time.Time{}
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.event(s, ByGateway, "worktree.kept", turn.Event{Code: code})
	})
}

// WorktreeRemoved records that nothing of a retired worktree is left but its
// branch.
func (l *Ledger) WorktreeRemoved(id turn.SessionID) error {
	return l.update(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		if s.Workspace.Retired.IsZero() || !s.Workspace.Removed.IsZero() {
			return errors.New("record removal: the worktree is not being removed")
		}
		s.Workspace.Removed = t.now
		if err := t.putSession(&s); err != nil {
			return err
		}
		return t.event(s, ByUser, "worktree.removed", turn.Event{})
	})
}

// undoing reports whether an undo of the session has begun and has no receipt.
func (t *txn) undoing(id turn.SessionID) (bool, error) {
	for c, k := cursorAt(t, bucketUndoing); k != nil; k, _ = c.Next() {
		a, err := t.action(turn.ActionID(k))
		if err != nil || a.Session == id {
			return true, err
		}
	}
	return false, nil
}

// WorktreeCall is what a person can do with the work in a worktree.
type WorktreeCall string

// The calls, as the kinds of their events begin.
const (
	ApplyCall  WorktreeCall = "apply"
	CommitCall WorktreeCall = "commit"
)

// done is the kind of the event of a call that had its effect.
func (c WorktreeCall) done() string {
	if c == CommitCall {
		return "worktree.committed"
	}
	return "worktree.applied"
}

// BeginWorktreeCall records that a person calls for something, before anything
// of it is done. It refuses with no_worktree, worktree_removed and run_active.
func (l *Ledger) BeginWorktreeCall(id turn.SessionID, call WorktreeCall) error {
	return l.update(func(t *txn) error {
		s, err := t.ownWorktree(id)
		if err != nil {
			return err
		}
		if err := s.Retired(); err != nil {
			return err
		}
		return t.event(s, ByUser, fmt.Sprintf("worktree.%s_begun", call), turn.Event{})
	})
}

// WorktreeEffect is how a call ended.
type WorktreeEffect struct {
	// Code says why nothing was done, "" if it was.
	Code turn.Code
	// Files counts the files of the source that were written, for an apply;
	// Commit is the commit that was made, for a commit.
	Files  int
	Commit string
}

// EndWorktreeCall records how a call that was begun ended. Of one that a crash
// ended there is only the begin.
func (l *Ledger) EndWorktreeCall(id turn.SessionID, call WorktreeCall, e WorktreeEffect) error {
	return l.update(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		if e.Code != "" {
			return t.event(s, ByUser, fmt.Sprintf("worktree.%s_refused", call), turn.Event{Outcome: turn.Error, Code: e.Code})
		}
		return t.event(s, ByUser, call.done(), turn.Event{Outcome: turn.OK, Files: e.Files, Subject: e.Commit})
	})
}
