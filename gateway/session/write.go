package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// Write is one write of a session that changed a file.
type Write struct {
	ActionID turn.ActionID `json:"action_id"`
	RunID    turn.RunID    `json:"run_id"`
	Name     string        `json:"name"`
	Path     string        `json:"path"`
	At       time.Time     `json:"at"`
	Created  bool          `json:"created,omitempty"`
	// Notes are what a person should know of the write.
	Notes []string `json:"notes,omitempty"`
	// UndoneBy is the action that took the write back, "" if none did.
	UndoneBy turn.ActionID `json:"undone_by,omitempty"`
	// Forgotten is when what the file held before was dropped: since then the
	// write cannot be taken back. Zero if it was not.
	Forgotten time.Time `json:"forgotten,omitzero"`
}

// Writes lists the writes of a session, newest first, undone ones included.
func (r *Reader) Writes(_ context.Context, id turn.SessionID) ([]Write, error) {
	actions, err := r.ledger.Writes(id)
	if err != nil {
		return nil, err
	}
	writes := []Write{}
	for _, a := range slices.Backward(actions) {
		writes = append(writes, writeOf(a))
	}
	return writes, nil
}

func writeOf(a ledger.ActionRecord) Write {
	return Write{
		ActionID: a.ID, RunID: a.Run, Name: a.Name, Path: a.Intent.Path, At: a.Receipt.FinishedAt,
		Created: a.Receipt.Write.Created, Notes: a.Receipt.Write.Notes, UndoneBy: a.UndoneBy,
		Forgotten: a.Forgotten,
	}
}

// FindWrites returns the writes of all sessions whose action id begins with
// prefix, up to limit.
func (r *Reader) FindWrites(ctx context.Context, prefix string, limit int) ([]Write, error) {
	views, err := r.ledger.Views()
	if err != nil {
		return nil, err
	}
	found := []Write{}
	for _, v := range views {
		if !v.Session.Profile.Writes() {
			continue
		}
		writes, err := r.Writes(ctx, v.Session.ID)
		if err != nil {
			return nil, err
		}
		for _, w := range writes {
			if strings.HasPrefix(string(w.ActionID), prefix) && len(found) < limit {
				found = append(found, w)
			}
		}
	}
	return found, nil
}
