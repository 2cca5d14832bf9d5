package ledger

import (
	"cmp"
	"slices"
	"time"

	"deckhand/gateway/turn"
)

// BeforeLimits say how much of the content from before writes is kept. A limit
// of 0 is none.
type BeforeLimits struct {
	// For is how long after a write.
	For time.Duration
	// Bytes is how much of it in total; the same content counts once.
	Bytes int64
}

// forgetAtOnce is how many writes one transaction of Forget changes, so that no
// other verb waits long for it.
const forgetAtOnce = 256

// Forget drops the content from before writes that is beyond the limits, the
// content that was needed last the longest ago first. Such a write cannot be
// undone any more, and says so. What a write without a receipt or of a run that
// has not ended has kept stays, whatever its size. It returns how many writes
// were changed; the files are Sweep's to remove.
func (l *Ledger) Forget(limits BeforeLimits) (int, error) {
	kept, err := l.contents()
	if err != nil {
		return 0, err
	}
	forgotten := 0
	for batch := range slices.Chunk(beyond(kept, limits, l.now()), forgetAtOnce) {
		n, err := l.forget(batch)
		forgotten += n
		if err != nil {
			return forgotten, err
		}
	}
	return forgotten, nil
}

// content is what was in a file before one write or more.
type content struct {
	bytes int64
	// last is when the newest of the writes was done.
	last   time.Time
	writes []keptBefore
	// pinned says that one of the writes has no receipt, or a run that has not
	// ended.
	pinned bool
}

// keptBefore is one write that the content is kept for.
type keptBefore struct {
	action turn.ActionID
	done   time.Time
	pinned bool
}

// contents returns all content from before writes, in no order.
func (l *Ledger) contents() ([]*content, error) {
	byHash := map[string]*content{}
	ended := map[turn.RunID]bool{}
	err := l.view(func(t *txn) error {
		return each(t, bucketActions, func(a ActionRecord) error {
			if a.Before.Bytes == 0 {
				return nil
			}
			over, known := ended[a.Run]
			if !known {
				r, err := t.run(a.Run)
				if err != nil {
					return err
				}
				over = !r.Open()
				ended[a.Run] = over
			}
			w := keptBefore{action: a.ID, pinned: !over || a.State != turn.Finished}
			if a.Receipt != nil {
				w.done = a.Receipt.FinishedAt
			}
			c := byHash[a.Before.SHA256]
			if c == nil {
				c = &content{bytes: a.Before.Bytes}
				byHash[a.Before.SHA256] = c
			}
			c.writes = append(c.writes, w)
			c.pinned = c.pinned || w.pinned
			if w.done.After(c.last) {
				c.last = w.done
			}
			return nil
		})
	})
	var all []*content
	for _, c := range byHash {
		all = append(all, c)
	}
	return all, err
}

// beyond returns the writes whose content is to be dropped.
func beyond(kept []*content, limits BeforeLimits, now time.Time) []turn.ActionID {
	slices.SortFunc(kept, func(a, b *content) int {
		return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.writes[0].action, b.writes[0].action))
	})
	var total int64
	for _, c := range kept {
		total += c.bytes
	}
	var drop []turn.ActionID
	for _, c := range kept {
		tooMuch := limits.Bytes > 0 && total > limits.Bytes && !c.pinned
		left := len(c.writes)
		for _, w := range c.writes {
			tooOld := limits.For > 0 && now.Sub(w.done) > limits.For
			if tooMuch || tooOld && !w.pinned {
				drop = append(drop, w.action)
				left--
			}
		}
		if left == 0 {
			total -= c.bytes
		}
	}
	return drop
}

// forget drops what is kept for these writes, as far as that still holds.
func (l *Ledger) forget(writes []turn.ActionID) (int, error) {
	forgotten := 0
	err := l.update(func(t *txn) error {
		told := map[turn.SessionID]turn.Event{}
		for _, id := range writes {
			a, ok, err := get[ActionRecord](t, bucketActions, string(id))
			if err != nil {
				return err
			}
			// It may have gone with its session. A run that has ended never opens
			// again, and a receipt never goes.
			if !ok || a.Before.Bytes == 0 {
				continue
			}
			e := told[a.Session]
			e.Files++
			e.Bytes += a.Before.Bytes
			told[a.Session] = e
			a.Before, a.Forgotten = Body{}, t.now
			if err := t.putAction(a); err != nil {
				return err
			}
			forgotten++
		}
		for id, e := range told {
			if err := t.event(SessionRecord{ID: id}, ByGateway, "undo.forgotten", e); err != nil {
				return err
			}
		}
		return nil
	})
	return forgotten, err
}
