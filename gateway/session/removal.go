package session

import (
	"context"
	"errors"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// RemoveWorktree removes a session's worktree; the branch stays, and the session
// cannot go on. It refuses while a run goes on, forced or not, and without force
// what would lose anything. From the moment that it looks until it is refused or
// done, no run and no undo of the session begins. What a crash interrupted is
// completed by the same call.
func (e *Engine) RemoveWorktree(ctx context.Context, id turn.SessionID, force bool) error {
	v, err := e.ledger.View(id)
	if err != nil {
		return err
	}
	tree, err := e.treeFor(v.Session)
	if err != nil {
		return err
	}
	return e.cfg.Worktrees.Remove(context.WithoutCancel(ctx), tree, force, removal{ledger: e.ledger, session: id})
}

// removal records the removal of one session's worktree.
type removal struct {
	ledger  *ledger.Ledger
	session turn.SessionID
}

var _ worktree.Record = removal{}

func (r removal) Retire() error  { return r.ledger.RetireWorktree(r.session) }
func (r removal) Removed() error { return r.ledger.WorktreeRemoved(r.session) }

func (r removal) Keep(why error) error { return r.ledger.KeepWorktree(r.session, codeOf(why)) }

// codeOf is the code that an event tells of an error.
func codeOf(err error) turn.Code {
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
		return refusal.Code
	}
	return turn.InternalError
}
