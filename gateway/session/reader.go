package session

import (
	"context"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// Reader answers questions about sessions from a ledger, whether or not a
// gateway runs. An Engine is one that also knows what is alive.
type Reader struct {
	ledger *ledger.Ledger
	secret Secret
	limits Limits
	// The functions below are nil without an engine.

	tools    func(ledger.SessionRecord) []Tool
	attached func(turn.RunID) bool
	produced func(turn.RunID, turn.ActionID) (bytes, lines int64)
}

// NewReader reads a ledger that was opened read-only. Close closes it.
func NewReader(l *ledger.Ledger, secret Secret) *Reader {
	return &Reader{ledger: l, secret: secret, limits: Limits{}.withDefaults()}
}

// Close closes the ledger.
func (r *Reader) Close() error { return r.ledger.Close() }

// List returns every session, newest first.
func (r *Reader) List(context.Context) ([]Summary, error) {
	views, err := r.ledger.Views()
	if err != nil {
		return nil, err
	}
	list := make([]Summary, 0, len(views))
	for _, v := range views {
		s := Summary{
			SessionID: v.Session.ID, Label: v.Session.Label, Profile: v.Session.Profile,
			WorkingDirectory: v.Session.WorkingDirectory, SourceDirectory: v.Session.SourceDirectory(), Status: v.Session.Status,
			CreatedAt: v.Session.CreatedAt, UpdatedAt: v.Session.UpdatedAt, LeaseExpiresAt: v.Session.Lease.ExpiresAt,
			Running: []string{}, Runs: v.Session.Runs, Code: v.Run.Code,
		}
		if v.Pending != nil {
			s.TurnOpenedAt = v.Pending.OpenedAt
		}
		if v.Session.Profile.Writes() && v.Session.Retired() == nil {
			if s.Undoable, err = r.ledger.Undoable(v.Session.ID); err != nil {
				return nil, err
			}
		}
		for _, a := range v.Open {
			s.Running = append(s.Running, a.Name)
			if a.Name == executor.RunCommandTool && r.produced != nil {
				bytes, lines := r.produced(v.Run.ID, a.ID)
				s.Printed.Bytes += bytes
				s.Printed.Lines += lines
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// Inspect returns the state of a session without its lease or token.
func (r *Reader) Inspect(_ context.Context, id turn.SessionID) (Snapshot, error) {
	v, err := r.ledger.View(id)
	if err != nil {
		return Snapshot{}, err
	}
	s, err := r.snapshot(v, "")
	if err != nil {
		return s, err
	}
	s.LeaseExpiresAt = &v.Session.Lease.ExpiresAt
	s.History, s.HistoryTruncated, err = r.history(id)
	return s, err
}

// RecoveryToken returns the token for a new conversation to take over with. It
// is for the person at the machine only.
func (r *Reader) RecoveryToken(_ context.Context, id turn.SessionID) (string, error) {
	v, err := r.ledger.View(id)
	if err != nil {
		return "", err
	}
	return r.secret.RecoveryToken(id, v.Session.Lease.Epoch), nil
}

// Events returns up to limit events after a sequence number, oldest first, of
// one session or, for "", of all.
func (r *Reader) Events(_ context.Context, after uint64, id turn.SessionID, limit int) ([]turn.Event, error) {
	return r.ledger.Events(after, id, limit)
}

// CheckLedger returns every broken invariant of the ledger.
func (r *Reader) CheckLedger(context.Context) ([]error, error) { return r.ledger.Check() }

// LastEvent returns the number of the newest event, 0 if there is none.
func (r *Reader) LastEvent() (uint64, error) { return r.ledger.LastEvent() }

// WaitEvents returns when there is an event after the given one, or with the
// cause of ctx.
func (e *Engine) WaitEvents(ctx context.Context, after uint64) error {
	for {
		changed := e.hub.anyChange()
		last, err := e.ledger.LastEvent()
		if err != nil || last > after {
			return err
		}
		if err := pause(ctx, changed, e.life); err != nil {
			return err
		}
	}
}
