package session

import (
	"context"
	"time"

	"deckhand/gateway/turn"
)

// Policy says when a person is asked before a session of a profile starts.
type Policy string

const (
	// AskOnce asks the first time for a folder and notifies from then on.
	AskOnce Policy = "ask_once"
	// Ask asks every time.
	Ask Policy = "ask"
	// Notify starts at once and notifies.
	Notify Policy = "notify"
	// DenyAlways refuses the profile.
	DenyAlways Policy = "deny"
)

// Policies lists the policies.
func Policies() []Policy { return []Policy{AskOnce, Ask, Notify, DenyAlways} }

// Valid reports whether p is one of the policies.
func (p Policy) Valid() bool { return p == AskOnce || p == Ask || p == Notify || p == DenyAlways }

// DefaultPolicy is the policy of a profile that the user has not set.
func DefaultPolicy(p turn.Profile) Policy {
	if p == turn.DirectWrite {
		return AskOnce
	}
	return Notify
}

// approvalFor is how long a person has to answer.
const approvalFor = 10 * time.Minute

// askFor returns how long a person is asked before a session starts, 0 if it
// starts at once.
func (e *Engine) askFor(profile turn.Profile, folder string) (time.Duration, error) {
	policy := e.policyOf(profile)
	switches, err := e.ledger.Switches()
	if err != nil {
		return 0, err
	}
	if switches.AskBeforeWrite && profile.Writes() && policy != DenyAlways {
		policy = Ask
	}
	switch policy {
	case DenyAlways:
		return 0, turn.Refuse(turn.ApprovalDenied, "the user's settings refuse %s sessions", profile)
	case Ask:
		return approvalFor, nil
	case AskOnce:
		trusted, err := e.ledger.Trusted(profile, folder)
		if err != nil || trusted {
			return 0, err
		}
		return approvalFor, nil
	}
	return 0, nil
}

// Approve starts a session that waits for a person. Generation is that of the
// approval which the person saw.
func (e *Engine) Approve(ctx context.Context, id turn.SessionID, generation int) (Snapshot, error) {
	v, err := e.ledger.View(id)
	if err != nil {
		return Snapshot{}, err
	}
	trust := e.policyOf(v.Session.Profile) == AskOnce
	effect, err := e.ledger.Approve(id, generation, trust, e.cfg.Limits.LeaseFor, e.cfg.Limits.MaxLive)
	if err != nil {
		return Snapshot{}, err
	}
	e.launch(effect.Session, effect.Run)
	return e.Inspect(ctx, id)
}

// Deny stops a session that waits for a person.
func (e *Engine) Deny(ctx context.Context, id turn.SessionID, generation int) (Snapshot, error) {
	if _, err := e.ledger.Deny(id, generation); err != nil {
		return Snapshot{}, err
	}
	return e.Inspect(ctx, id)
}

func (e *Engine) policyOf(p turn.Profile) Policy {
	if policy, ok := e.cfg.Policies[p]; ok {
		return policy
	}
	return DefaultPolicy(p)
}
