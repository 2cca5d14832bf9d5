package ledger

import (
	"strings"

	"deckhand/gateway/turn"
)

// Input names a call for idempotency: Scope and Key together are unique to the
// request, and Digest is the SHA-256 of what was asked. The lease and the time
// to wait are not part of it: they may differ between repeats.
type Input struct {
	// Scope is made by ScopeOf.
	Scope  string
	Key    turn.Key
	Digest string
}

// ScopeOf joins what scopes a key, e.g. the call and the session.
func ScopeOf(parts ...string) string { return strings.Join(parts, "\x00") }

func (in Input) key() string { return in.Scope + "\x00\x00" + string(in.Key) }

// effect finds what the same call did before. It refuses other input under the
// same key, naming both digests.
func (t *txn) effect(in Input) (KeyRecord, bool, error) {
	k, ok, err := get[KeyRecord](t, bucketKeys, in.key())
	if err != nil || !ok {
		return k, false, err
	}
	if k.Digest != in.Digest {
		return k, false, turn.Refuse(turn.IdempotencyConflict,
			"this key was used for other input: stored sha256 %.16s…, this call sha256 %.16s…", k.Digest, in.Digest)
	}
	return k, true, nil
}

func (t *txn) putEffect(in Input, s SessionRecord) error {
	return put(t, bucketKeys, in.key(), KeyRecord{
		V: recordVersion, Digest: in.Digest, Session: s.ID, Lease: s.Lease.ID, At: t.now})
}

// mayReplay checks the lease of a repeat: the session's current one, or the
// one under which the effect was stored.
func mayReplay(s SessionRecord, k KeyRecord, lease turn.LeaseID) error {
	if lease == s.Lease.ID || lease == k.Lease {
		return nil
	}
	return &turn.Refusal{Code: turn.LeaseMismatch}
}

// Replayed looks for the effect of an earlier call with the same key, so that
// a repeat is answered before anything that may have changed since is checked
// again. Lease is the caller's, or "" for start, whose own lease counts.
func (l *Ledger) Replayed(in Input, lease turn.LeaseID) (Effect, bool, error) {
	var e Effect
	var found bool
	err := l.view(func(t *txn) error {
		k, ok, err := t.effect(in)
		if err != nil || !ok {
			return err
		}
		s, err := t.session(k.Session)
		if err != nil {
			return err
		}
		if lease == "" {
			lease = k.Lease
		}
		if err := mayReplay(s, k, lease); err != nil {
			return err
		}
		found = true
		e, err = t.replay(s.ID, lease)
		return err
	})
	return e, found, err
}

// claim checks everything a call with a lease has in common: the session, a
// repeat, the lease and its end, and the status table.
func (t *txn) claim(id turn.SessionID, lease turn.LeaseID, in Input, call turn.Call) (s SessionRecord, replayed bool, err error) {
	s, err = t.session(id)
	if err != nil {
		return s, false, err
	}
	k, replayed, err := t.effect(in)
	if err != nil {
		return s, false, err
	}
	if replayed {
		return s, true, mayReplay(s, k, lease)
	}
	if lease != s.Lease.ID {
		return s, false, &turn.Refusal{Code: turn.LeaseMismatch}
	}
	if s.Lease.Expired(t.now) && canExpire(s) {
		return s, false, &turn.Refusal{Code: turn.LeaseExpiredCode}
	}
	if code := turn.Permit(s.Status, call, false); code != "" {
		return s, false, &turn.Refusal{Code: code}
	}
	return s, false, nil
}

// replay is the effect of a repeat by the holder of lease.
func (t *txn) replay(id turn.SessionID, lease turn.LeaseID) (Effect, error) {
	s, err := t.session(id)
	if err != nil {
		return Effect{}, err
	}
	run, err := t.latestRun(s)
	return Effect{Session: s, Run: run, Replay: true, Holds: lease == s.Lease.ID}, err
}
