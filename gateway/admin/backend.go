package admin

import (
	"context"

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
	// StopByUser ends the session's run.
	StopByUser(ctx context.Context, id turn.SessionID, reason string) (session.Snapshot, error)
	// RecoveryToken returns the token that a new chat takes the session over
	// with.
	RecoveryToken(ctx context.Context, id turn.SessionID) (string, error)
	// Events returns up to limit events with a number above after, oldest
	// first; of one session, or of all if session is "".
	Events(ctx context.Context, after uint64, session turn.SessionID, limit int) ([]turn.Event, error)
	// WaitEvents returns when there is an event with a number above after, or
	// with the context's error when that ends first.
	WaitEvents(ctx context.Context, after uint64) error
}

// Gateway is what surrounds the engine.
type Gateway interface {
	Status(ctx context.Context) (Status, error)
	// LocalToken is the static token of the local listener.
	LocalToken() string
	// RotateLocalToken replaces it: the old one stops working at once.
	RotateLocalToken() (string, error)
}
