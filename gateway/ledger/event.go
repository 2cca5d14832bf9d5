package ledger

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"deckhand/gateway/turn"
)

// event appends to the list of what happened.
func (t *txn) event(s SessionRecord, by Actor, kind string, e turn.Event) error {
	events := t.tx.Bucket(bucketEvents)
	seq, err := events.NextSequence()
	if err != nil {
		return err
	}
	e.Seq, e.At, e.Session, e.Kind, e.By = seq, t.now, s.ID, kind, string(by)
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	t.touched[s.ID] = true
	return events.Put(binary.BigEndian.AppendUint64(nil, seq), data)
}

// changed is event with the session's status before and after.
func (t *txn) changed(s SessionRecord, from turn.Status, by Actor, kind string, e turn.Event) error {
	if from != s.Status {
		e.From, e.To = from, s.Status
	}
	return t.event(s, by, kind, e)
}

// Events returns up to limit events after the given sequence number, oldest
// first; of one session, or of all if session is "".
func (l *Ledger) Events(after uint64, session turn.SessionID, limit int) ([]turn.Event, error) {
	events := []turn.Event{}
	err := l.view(func(t *txn) error {
		c := t.tx.Bucket(bucketEvents).Cursor()
		for k, v := c.Seek(binary.BigEndian.AppendUint64(nil, after+1)); k != nil && len(events) < limit; k, v = c.Next() {
			var e turn.Event
			if err := json.Unmarshal(v, &e); err != nil {
				return fmt.Errorf("decode event: %w", err)
			}
			if session == "" || e.Session == session {
				events = append(events, e)
			}
		}
		return nil
	})
	return events, err
}

// LastEvent returns the sequence number of the newest event, 0 if there is none.
func (l *Ledger) LastEvent() (uint64, error) {
	var last uint64
	err := l.view(func(t *txn) error {
		last = t.tx.Bucket(bucketEvents).Sequence()
		return nil
	})
	return last, err
}
