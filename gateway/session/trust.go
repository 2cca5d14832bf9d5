package session

import (
	"context"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// Trust is a folder in which a person allowed a profile once and for all: its
// next session there starts without asking, if the policy is ask_once.
type Trust struct {
	Profile turn.Profile `json:"capability_profile"`
	// Folder is, for worktree_write, the checkout that worktrees are made of.
	Folder string    `json:"folder"`
	Since  time.Time `json:"since"`
}

// Trusts lists the trusted folders by name.
func (r *Reader) Trusts(context.Context) ([]Trust, error) { return trustsOf(r.ledger.Trusts()) }

// RevokeTrust takes back the trust in one folder, for all profiles, and returns
// what it took back. Sessions that exist go on. It refuses with not_trusted.
func (e *Engine) RevokeTrust(_ context.Context, folder string) ([]Trust, error) {
	return trustsOf(e.ledger.Revoke(folder))
}

// RevokeAllTrust is RevokeTrust of every folder, also if there is none.
func (e *Engine) RevokeAllTrust(context.Context) ([]Trust, error) {
	return trustsOf(e.ledger.RevokeAll())
}

func trustsOf(stored []ledger.Trust, err error) ([]Trust, error) {
	if err != nil {
		return nil, err
	}
	trusts := make([]Trust, len(stored))
	for i, t := range stored {
		trusts[i] = Trust(t)
	}
	return trusts, nil
}
