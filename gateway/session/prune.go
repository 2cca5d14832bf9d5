package session

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// PruneTarget is a session as who wants it removed has seen it.
type PruneTarget struct {
	SessionID turn.SessionID `json:"native_session_id"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// PruneReport says which sessions were removed or, for a dry run, would be.
type PruneReport struct {
	DryRun bool          `json:"dry_run"`
	Pruned []PruneTarget `json:"pruned"`
	Kept   []PruneKept   `json:"kept"`
}

// PruneKept is a session that was left as it is, and why.
type PruneKept struct {
	SessionID turn.SessionID `json:"native_session_id"`
	Code      turn.Code      `json:"code"`
	Text      string         `json:"text"`
}

// Prune removes sessions with everything that is kept of them: records, bodies,
// Claude Code's home and the cache of commands. One that is in use, that has
// changed since it was seen, or whose worktree is there, is kept and listed.
// What a crash interrupts is removed by the next gateway.
func (e *Engine) Prune(ctx context.Context, targets []PruneTarget, dryRun bool) (PruneReport, error) {
	report := PruneReport{DryRun: dryRun, Pruned: []PruneTarget{}, Kept: []PruneKept{}}
	keep := func(id turn.SessionID, err error) error {
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if ok {
			report.Kept = append(report.Kept, PruneKept{SessionID: id, Code: refusal.Code, Text: refusal.Detail})
			return nil
		}
		return err
	}
	seen := map[turn.SessionID]PruneTarget{}
	var ids []turn.SessionID
	for _, t := range targets {
		if err := e.prunable(t); err != nil {
			if err := keep(t.SessionID, err); err != nil {
				return report, err
			}
			continue
		}
		seen[t.SessionID] = t
		ids = append(ids, t.SessionID)
	}
	if dryRun {
		for _, id := range ids {
			report.Pruned = append(report.Pruned, seen[id])
		}
		return report, nil
	}
	estates, err := e.ledger.Estates(ids)
	if err != nil {
		return report, err
	}
	for _, estate := range estates {
		id := estate.Session.ID
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		err := changedSince(estate.Session, seen[id])
		if err == nil {
			err = e.ledger.Prune(estate)
		}
		if err != nil {
			if err := keep(id, err); err != nil {
				return report, err
			}
			continue
		}
		report.Pruned = append(report.Pruned, seen[id])
		home := e.cfg.Runner.Home(id)
		_, homeErr := e.discard(ctx, filepath.Dir(home), filepath.Base(home), id)
		_, cacheErr := e.discard(ctx, e.cfg.Caches, string(id), id)
		if err := errors.Join(homeErr, cacheErr); err != nil {
			e.cfg.Log.Error("remove folders of a pruned session", "session", id, "err", err)
		}
	}
	_, err = e.ledger.Sweep()
	return report, err
}

// prunable refuses what is not to be removed, with what to do first.
func (e *Engine) prunable(t PruneTarget) error {
	s, err := e.ledger.Prunable(t.SessionID)
	if err != nil {
		return err
	}
	if err := changedSince(s, t); err != nil {
		return err
	}
	w := s.Workspace
	if w.Kind != kindWorktree || !w.Removed.IsZero() {
		return nil
	}
	paths := []string{w.Root}
	if len(w.Tree) > 0 {
		tree, err := treeOf(w)
		if err != nil {
			return err
		}
		paths = append(paths, tree.Registration)
	}
	for _, path := range paths {
		if !gone(path) {
			return turn.Refuse(turn.WorktreeNotClean, "its worktree is there; bring the work home with: deckhand worktrees apply %s, then: deckhand worktrees remove %[1]s", s.ID)
		}
	}
	return nil
}

func changedSince(s ledger.SessionRecord, t PruneTarget) error {
	if !s.UpdatedAt.Equal(t.UpdatedAt) {
		return turn.Refuse(turn.SessionInUse, "the session has been used in the meantime; look at it again")
	}
	return nil
}
