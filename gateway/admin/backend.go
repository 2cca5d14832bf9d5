package admin

import (
	"context"
	"io"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// Backend is the engine as a person uses it. Its errors are *turn.Refusal where
// the caller did something wrong; any other error is a fault of the gateway.
type Backend interface {
	// List returns all sessions, newest first.
	List(ctx context.Context) ([]session.Summary, error)
	// Inspect returns the state without lease and recovery token.
	Inspect(ctx context.Context, id turn.SessionID) (session.Snapshot, error)
	// Actions lists the actions of its newest turns, oldest first, with what they
	// were asked.
	Actions(ctx context.Context, id turn.SessionID) ([]session.Action, error)
	// StopByUser ends the session's run.
	StopByUser(ctx context.Context, id turn.SessionID, reason string) (session.Snapshot, error)
	// Waiting lists the sessions that wait for a person, newest first.
	Waiting(ctx context.Context) ([]session.Waiting, error)
	// Approve and Deny answer a session that waits for a person, who saw the
	// request of that generation.
	Approve(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error)
	Deny(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error)
	// RecoveryToken returns the token that a new chat takes the session over
	// with.
	RecoveryToken(ctx context.Context, id turn.SessionID) (string, error)
	// Events returns up to limit events with a number above after, oldest
	// first; of one session, or of all if session is "".
	Events(ctx context.Context, after uint64, session turn.SessionID, limit int) ([]turn.Event, error)
	// WaitEvents returns when there is an event with a number above after, or
	// with the context's error when that ends first.
	WaitEvents(ctx context.Context, after uint64) error
	Switches
	Undo
	Trusts
	Worktrees
	Pruner
}

// Pruner removes sessions for good.
type Pruner interface {
	Prune(ctx context.Context, targets []session.PruneTarget, dryRun bool) (session.PruneReport, error)
}

// Undo takes writes back. A running gateway offers it, and so does an engine
// that a command opened itself.
type Undo interface {
	// Writes lists the writes of a session, newest first.
	Writes(ctx context.Context, id turn.SessionID) ([]session.Write, error)
	// FindWrites returns up to limit writes of all sessions whose action id
	// begins with prefix.
	FindWrites(ctx context.Context, prefix string, limit int) ([]session.Write, error)
	UndoAction(ctx context.Context, id turn.ActionID, dryRun bool) (session.UndoReport, error)
	UndoSession(ctx context.Context, id turn.SessionID, dryRun bool) (session.UndoReport, error)
}

// Trusts are the folders in which a person allowed a profile once and for all.
type Trusts interface {
	// Trusts lists them by name.
	Trusts(ctx context.Context) ([]session.Trust, error)
	// RevokeTrust takes back the trust in one folder, and RevokeAllTrust in all.
	// They return what they took back.
	RevokeTrust(ctx context.Context, folder string) ([]session.Trust, error)
	RevokeAllTrust(ctx context.Context) ([]session.Trust, error)
}

// Worktrees is what can be done with the worktrees of sessions.
type Worktrees interface {
	// Worktrees lists them, newest first.
	Worktrees(ctx context.Context) ([]session.Worktree, error)
	// WorktreeDiff lists what one changed, with a text of at most maxDiff bytes.
	WorktreeDiff(ctx context.Context, id turn.SessionID, maxDiff int) (session.WorktreeDiff, error)
	// WorktreePatch writes what git apply takes. After an error w may have got
	// a part of it.
	WorktreePatch(ctx context.Context, id turn.SessionID, w io.Writer) error
	ApplyWorktree(ctx context.Context, id turn.SessionID, dryRun bool) (session.WorktreeApply, error)
	CommitWorktree(ctx context.Context, id turn.SessionID, message string) (session.WorktreeCommit, error)
	RemoveWorktree(ctx context.Context, id turn.SessionID, force bool) error
}

// Gateway is what surrounds the engine.
type Gateway interface {
	Status(ctx context.Context) (Status, error)
	// LocalToken is the static token of the local listener.
	LocalToken() string
	// RotateLocalToken replaces it: the old one stops working at once.
	RotateLocalToken() (string, error)
	// Greet brings the app to the user's notice, and reports whether it has
	// anything to be noticed by.
	Greet() bool
	// Quit ends the gateway, and the app that it is part of, in good order; runs
	// go on. It returns before that is done.
	Quit()
}
