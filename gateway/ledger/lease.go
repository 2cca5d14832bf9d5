package ledger

import (
	"encoding/binary"
	"time"

	"deckhand/gateway/turn"
)

// UseLease notes that a lease was used for the first time, which ends the
// recovery tokens before it. It refuses with lease_mismatch.
func (l *Ledger) UseLease(id turn.SessionID, lease turn.LeaseID) error {
	return l.update(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		if s.Lease.ID != lease {
			return &turn.Refusal{Code: turn.LeaseMismatch}
		}
		if s.Lease.Used {
			return nil
		}
		s.Lease = s.Lease.Use()
		return t.putSession(&s)
	})
}

// ExpireDue ends every lease that has passed and can end, and denies every
// approval that nobody gave in time. It returns the sessions; their runs, if
// open, are the engine's to end.
func (l *Ledger) ExpireDue() ([]turn.SessionID, error) {
	// Nearly always there is nothing to do, and looking costs no disk write.
	if next, err := l.NextDue(); err != nil || next.IsZero() || l.now().Before(next) {
		return nil, err
	}
	var expired []turn.SessionID
	err := l.update(func(t *txn) error {
		due, err := t.due()
		if err != nil {
			return err
		}
		for _, s := range due {
			end := t.expire
			if s.Status == turn.AwaitingApproval {
				end = t.lapse
			}
			if err := end(&s); err != nil {
				return err
			}
			if err := t.putSession(&s); err != nil {
				return err
			}
			expired = append(expired, s.ID)
		}
		return nil
	})
	return expired, err
}

func (t *txn) due() ([]SessionRecord, error) {
	var due []SessionRecord
	for c, k := cursorAt(t, bucketDue); k != nil; k, _ = c.Next() {
		s, err := t.session(turn.SessionID(k[8:]))
		if err != nil {
			return nil, err
		}
		if at, _ := deadline(s); t.now.Before(at) {
			break
		}
		due = append(due, s)
	}
	return due, nil
}

func (t *txn) expire(s *SessionRecord) error {
	from := s.Status
	if err := t.move(s, turn.Expire); err != nil {
		return err
	}
	s.Terminal = &TerminalRecord{Outcome: RunExpired, Code: turn.LeaseExpiredCode, At: t.now}
	return t.changed(*s, from, ByGateway, "session.lease_expired", turn.Event{Run: s.Run})
}

// NextDue returns when ExpireDue has something to do next, the zero time if
// nothing ends by itself.
func (l *Ledger) NextDue() (time.Time, error) {
	var next time.Time
	err := l.view(func(t *txn) error {
		if _, k := cursorAt(t, bucketDue); k != nil {
			s, err := t.session(turn.SessionID(k[8:]))
			if err != nil {
				return err
			}
			next, _ = deadline(s)
		}
		return nil
	})
	return next, err
}

// canExpire reports whether the lease of s can end in its present status.
func canExpire(s SessionRecord) bool {
	_, err := turn.Next(s.Status, turn.Expire)
	return err == nil
}

// deadline returns when something of s ends by itself, and whether anything
// does: the approval that it waits for, or else its lease.
func deadline(s SessionRecord) (time.Time, bool) {
	if s.Status == turn.AwaitingApproval {
		return s.Approval.ExpiresAt, true
	}
	return s.Lease.ExpiresAt, canExpire(s)
}

// dueKey is the place of s in the index of deadlines, nil if it has none.
func dueKey(s SessionRecord) []byte {
	at, ok := deadline(s)
	if !ok {
		return nil
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())), s.ID...)
}
