package ledger

import (
	"cmp"
	"time"

	"deckhand/gateway/turn"
)

// Approve starts the first run of a session that waits for a person, who
// answered what was shown as generation. Trust remembers the folder, so that
// the profile's next session there does not ask. It refuses with
// approval_not_pending and capacity.
func (l *Ledger) Approve(id turn.SessionID, generation int, trust bool, leaseFor time.Duration, maxLive int) (Effect, error) {
	var e Effect
	err := l.update(func(t *txn) error {
		s, err := t.pendingApproval(id, generation)
		if err != nil {
			return err
		}
		if err := t.roomFor(maxLive); err != nil {
			return err
		}
		from := s.Status
		if err := t.move(&s, turn.Approve); err != nil {
			return err
		}
		run, err := t.beginRun(&s, s.Approval.Prompt)
		if err != nil {
			return err
		}
		s.Approval.State = ApprovalApproved
		s.Lease.ExpiresAt = t.now.Add(leaseFor)
		if trust {
			if err := t.trust(s); err != nil {
				return err
			}
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		e = Effect{Session: s, Run: run}
		return t.changed(s, from, ByUser, "approval.given", turn.Event{Run: run.ID})
	})
	return e, err
}

// Deny stops a session that waits for a person. It refuses with
// approval_not_pending.
func (l *Ledger) Deny(id turn.SessionID, generation int) (Effect, error) {
	var e Effect
	err := l.update(func(t *txn) error {
		s, err := t.pendingApproval(id, generation)
		if err != nil {
			return err
		}
		if err := t.deny(&s, ApprovalDenied, ByUser, "approval.denied"); err != nil {
			return err
		}
		e = Effect{Session: s}
		return t.putSession(&s)
	})
	return e, err
}

// denied reports whether the session was to be allowed by a person and was not.
func (s SessionRecord) denied() bool {
	return s.Approval != nil && (s.Approval.State == ApprovalDenied || s.Approval.State == ApprovalExpired)
}

// lapse denies a session whose approval nobody gave in time.
func (t *txn) lapse(s *SessionRecord) error {
	return t.deny(s, ApprovalExpired, ByGateway, "approval.expired")
}

func (t *txn) deny(s *SessionRecord, state ApprovalState, by Actor, kind string) error {
	from := s.Status
	if err := t.move(s, turn.Deny); err != nil {
		return err
	}
	s.Approval.State = state
	s.Terminal = &TerminalRecord{Outcome: RunDenied, Code: turn.ApprovalDenied, At: t.now}
	return t.changed(*s, from, by, kind, turn.Event{Code: turn.ApprovalDenied})
}

func (t *txn) pendingApproval(id turn.SessionID, generation int) (SessionRecord, error) {
	s, err := t.session(id)
	if err != nil {
		return s, err
	}
	if s.Status != turn.AwaitingApproval {
		return s, turn.Refuse(turn.ApprovalNotPending, "the session is %s", s.Status)
	}
	if s.Approval.Generation != generation {
		return s, turn.Refuse(turn.ApprovalNotPending, "this request was replaced by another")
	}
	return s, nil
}

// SourceDirectory is the directory that the session was asked for, and what a
// person trusts: the source of a worktree, or else the working directory.
func (s SessionRecord) SourceDirectory() string {
	return cmp.Or(s.Workspace.Source, s.WorkingDirectory)
}
