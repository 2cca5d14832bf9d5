package session

import (
	"context"

	"deckhand/gateway/turn"
)

// Switches says which switches are on.
func (r *Reader) Switches(context.Context) (turn.Switches, error) { return r.ledger.Switches() }

// Live says how many runs have not ended.
func (e *Engine) Live() (int, error) {
	runs, err := e.ledger.OpenRuns()
	return len(runs), err
}

// Flip turns a switch for all sessions. A session that starts at the same time
// counts as one that started before.
func (e *Engine) Flip(_ context.Context, which turn.Switch, on bool) (turn.Switches, error) {
	return e.ledger.Flip(which, on)
}
