package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"deckhand/gateway/turn"
)

// Prunable returns a session that Prune would remove as it is now. It refuses
// with unknown_session, and with run_active, approval_pending,
// recovery_required and session_in_use, each with what to do first.
func (l *Ledger) Prunable(id turn.SessionID) (SessionRecord, error) {
	var s SessionRecord
	err := l.view(func(t *txn) (err error) {
		s, err = t.prunable(id)
		return err
	})
	return s, err
}

func (t *txn) prunable(id turn.SessionID) (SessionRecord, error) {
	s, err := t.session(id)
	if err != nil {
		return s, err
	}
	switch {
	case s.Status == turn.AwaitingApproval:
		return s, turn.Refuse(turn.ApprovalPending, "the session waits for your answer; give it with: deckhand approve %s, or deckhand deny %[1]s", id)
	case s.Status == turn.RecoveryRequired:
		return s, turn.Refuse(turn.RecoveryRequiredCode, "nobody saw how its last run ended; take it up with: deckhand recover %s, or give it up with: deckhand stop %[1]s", id)
	case t.hasOpenRun(s) || !s.Status.Ended():
		return s, turn.Refuse(turn.RunActive, "a run of the session is going on; let it end, or end it with: deckhand stop %s", id)
	}
	if busy, err := t.undoing(id); err != nil {
		return s, err
	} else if busy {
		return s, turn.Refuse(turn.SessionInUse, "an undo of the session is under way; try again")
	}
	return s, nil
}

// Estate is everything that the ledger holds of one session, as of the moment
// at which Estates looked.
type Estate struct {
	Session SessionRecord
	undos   []turn.ActionID
	keys    [][]byte
	events  [][]byte
}

// Estates collects what there is of sessions, in one pass over the ledger. A
// session that is not there has none.
func (l *Ledger) Estates(ids []turn.SessionID) ([]Estate, error) {
	var estates []Estate
	index := map[turn.SessionID]int{}
	err := l.view(func(t *txn) error {
		for _, id := range ids {
			s, ok, err := get[SessionRecord](t, bucketSessions, string(id))
			if err != nil {
				return err
			}
			if _, twice := index[id]; ok && !twice {
				index[id] = len(estates)
				estates = append(estates, Estate{Session: s})
			}
		}
		// A run leads to its turns, and a turn to its actions. Undos, keys and
		// events are named by nobody.
		if err := each(t, bucketActions, func(a ActionRecord) error {
			if i, ok := index[a.Session]; ok && a.Undoes != "" {
				estates[i].undos = append(estates[i].undos, a.ID)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := t.tx.Bucket(bucketKeys).ForEach(func(k, v []byte) error {
			r, err := decode[KeyRecord](v)
			if err != nil {
				return fmt.Errorf("keys: %w", err)
			}
			if i, ok := index[r.Session]; ok {
				estates[i].keys = append(estates[i].keys, slices.Clone(k))
			}
			return nil
		}); err != nil {
			return err
		}
		return t.tx.Bucket(bucketEvents).ForEach(func(k, v []byte) error {
			var e turn.Event
			if err := json.Unmarshal(v, &e); err != nil {
				return fmt.Errorf("decode event: %w", err)
			}
			if i, ok := index[e.Session]; ok {
				estates[i].events = append(estates[i].events, slices.Clone(k))
			}
			return nil
		})
	})
	return estates, err
}

// Prune removes a session with everything that the ledger holds of it: runs,
// turns, actions, receipts, idempotency keys and events. One event stays, which
// says that and when. It refuses as Prunable does, and with session_in_use if
// the session has changed since the estate was collected. The files of bodies
// are Sweep's to remove.
func (l *Ledger) Prune(e Estate) error {
	return l.update(func(t *txn) error {
		s, err := t.prunable(e.Session.ID)
		if err != nil {
			return err
		}
		if s.Revision != e.Session.Revision {
			return turn.Refuse(turn.SessionInUse, "the session has been used in the meantime; look at it again")
		}
		if err := t.removeRuns(s); err != nil {
			return err
		}
		for _, id := range e.undos {
			if err := t.tx.Bucket(bucketActions).Delete([]byte(id)); err != nil {
				return err
			}
		}
		if err := t.removeAll(bucketKeys, e.keys); err != nil {
			return err
		}
		writes := t.keysOf(bucketWrites, s.ID)
		if err := t.removeAll(bucketWrites, writes); err != nil {
			return err
		}
		if err := t.removeAll(bucketEvents, e.events); err != nil {
			return err
		}
		if key := dueKey(s); key != nil {
			if err := t.tx.Bucket(bucketDue).Delete(key); err != nil {
				return err
			}
		}
		if err := t.tx.Bucket(bucketSessions).Delete([]byte(s.ID)); err != nil {
			return err
		}
		return t.event(s, ByUser, "session.pruned", turn.Event{Files: len(writes)})
	})
}

// removeRuns removes the runs of a session with their turns and actions.
func (t *txn) removeRuns(s SessionRecord) error {
	for run := s.Run; run != ""; {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		for next := r.Last; next != ""; {
			a, err := t.answered(next)
			if err != nil {
				return err
			}
			for _, action := range a.Actions {
				if err := t.tx.Bucket(bucketToolUses).Delete([]byte(action.ToolUse)); err != nil {
					return err
				}
				if err := t.tx.Bucket(bucketActions).Delete([]byte(action.ID)); err != nil {
					return err
				}
			}
			if err := t.tx.Bucket(bucketTurns).Delete([]byte(next)); err != nil {
				return err
			}
			next = a.Turn.Prev
		}
		if err := t.tx.Bucket(bucketRuns).Delete([]byte(run)); err != nil {
			return err
		}
		run = r.Prev
	}
	return nil
}

// keysOf returns the keys of a bucket that begin with a session's id.
func (t *txn) keysOf(bucket []byte, id turn.SessionID) [][]byte {
	var keys [][]byte
	for k := range t.numbered(bucket, id) {
		keys = append(keys, slices.Clone(k))
	}
	return keys
}

// numbered goes through what a bucket holds under a session's id and a number of
// eight bytes, in order. Keys and values are valid until the next change.
func (t *txn) numbered(bucket []byte, id turn.SessionID) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		prefix := []byte(id)
		c := t.tx.Bucket(bucket).Cursor()
		for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			// An id that only begins alike is longer.
			if len(k) == len(prefix)+8 && !yield(k, v) {
				return
			}
		}
	}
}

func (t *txn) removeAll(bucket []byte, keys [][]byte) error {
	for _, k := range keys {
		if err := t.tx.Bucket(bucket).Delete(k); err != nil {
			return err
		}
	}
	return nil
}
