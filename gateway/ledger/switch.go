package ledger

import (
	"encoding/json"
	"fmt"

	"deckhand/gateway/turn"
)

// keySwitches holds the switches in the bucket meta; absent means all are off.
var keySwitches = []byte("switches")

// Switches says which switches are on.
func (l *Ledger) Switches() (turn.Switches, error) {
	var s turn.Switches
	err := l.view(func(t *txn) (err error) {
		s, err = t.switches()
		return err
	})
	return s, err
}

// Flip turns a switch. Turning it where it is already changes nothing.
func (l *Ledger) Flip(which turn.Switch, on bool) (turn.Switches, error) {
	var s turn.Switches
	err := l.update(func(t *txn) error {
		was, err := t.switches()
		if err != nil {
			return err
		}
		if s, err = was.With(which, on); err != nil || s == was {
			return err
		}
		data, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode switches: %w", err)
		}
		if err := t.tx.Bucket(bucketMeta).Put(keySwitches, data); err != nil {
			return err
		}
		kind := "switch.off"
		if on {
			kind = "switch.on"
		}
		return t.event(SessionRecord{}, ByUser, kind, turn.Event{Name: string(which)})
	})
	return s, err
}

func (t *txn) switches() (turn.Switches, error) {
	var s turn.Switches
	data := t.tx.Bucket(bucketMeta).Get(keySwitches)
	if data == nil {
		return s, nil
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decode switches: %w", err)
	}
	return s, nil
}
