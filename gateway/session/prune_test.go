package session

import (
	"os"
	"testing"

	"deckhand/gateway/turn"
)

// TestAPrunedSessionIsUnknownAndItsFoldersAreGone removes one whose worktree has
// to go first, twice, with a dry run before.
func TestAPrunedSessionIsUnknownAndItsFoldersAreGone(t *testing.T) {
	w := newWorld(t)
	s := w.worktreeSession()
	home := w.cfg.Runner.Home(s.SessionID)
	w.must(os.MkdirAll(home, 0o700))
	prune := func(dryRun bool) PruneReport {
		t.Helper()
		target := PruneTarget{SessionID: s.SessionID}
		if v, err := w.ledger.View(s.SessionID); err == nil {
			target.UpdatedAt = v.Session.UpdatedAt
		}
		report, err := w.Prune(t.Context(), []PruneTarget{target}, dryRun)
		w.must(err)
		return report
	}
	if r := prune(false); len(r.Kept) != 1 || r.Kept[0].Code != turn.WorktreeNotClean {
		t.Errorf("with its worktree: %+v", r)
	}
	w.must(w.RemoveWorktree(t.Context(), s.SessionID, false))
	if r, err := w.Prune(t.Context(), []PruneTarget{{SessionID: s.SessionID}}, false); err != nil || len(r.Kept) != 1 || r.Kept[0].Code != turn.SessionInUse {
		t.Errorf("as it was seen long ago: %+v, %v", r, err)
	}
	if r := prune(true); len(r.Pruned) != 1 || len(r.Kept) != 0 {
		t.Errorf("dry run: %+v", r)
	}
	if r := prune(false); len(r.Pruned) != 1 || len(r.Kept) != 0 {
		t.Errorf("pruned: %+v", r)
	}
	if !gone(home) {
		t.Error("its home is there")
	}
	_, err := w.goOn(s)
	refused(t, err, turn.UnknownSession)
	if r := prune(false); len(r.Kept) != 1 || r.Kept[0].Code != turn.UnknownSession {
		t.Errorf("again: %+v", r)
	}
}
