package ledger

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"deckhand/gateway/turn"
)

// Check reads the whole ledger and returns every broken invariant, nil if all
// hold. The error is about reading itself.
func (l *Ledger) Check() (broken []error, err error) {
	err = l.db.View(func(tx *bolt.Tx) error {
		for e := range tx.Check() {
			broken = append(broken, fmt.Errorf("store: %w", e))
		}
		c := checker{t: &txn{tx: tx}, l: l}
		if err := c.all(); err != nil {
			return err
		}
		broken = append(broken, c.broken...)
		return nil
	})
	return broken, err
}

// checker collects what is broken; methods return errors only if reading fails.
type checker struct {
	t      *txn
	l      *Ledger
	broken []error
}

func (c *checker) say(format string, args ...any) {
	c.broken = append(c.broken, fmt.Errorf(format, args...))
}

func (c *checker) all() error {
	if err := each(c.t, bucketSessions, c.session); err != nil {
		return err
	}
	if err := each(c.t, bucketRuns, c.run); err != nil {
		return err
	}
	if err := each(c.t, bucketTurns, c.turn); err != nil {
		return err
	}
	if err := each(c.t, bucketActions, c.action); err != nil {
		return err
	}
	if err := c.due(); err != nil {
		return err
	}
	if err := c.leads(bucketToolUses); err != nil {
		return err
	}
	if err := c.leads(bucketWrites); err != nil {
		return err
	}
	return each(c.t, bucketKeys, func(k KeyRecord) error {
		if _, ok, err := get[SessionRecord](c.t, bucketSessions, string(k.Session)); err != nil || !ok {
			c.say("key names session %s, which is missing", k.Session)
			return err
		}
		return nil
	})
}

// each decodes every record of a bucket.
func each[T record](t *txn, bucket []byte, f func(T) error) error {
	return t.tx.Bucket(bucket).ForEach(func(k, v []byte) error {
		r, err := decode[T](v)
		if err != nil {
			return fmt.Errorf("%s %s: %w", bucket, k, err)
		}
		return f(r)
	})
}

func (c *checker) session(s SessionRecord) error {
	open := string(c.t.tx.Bucket(bucketOpen).Get([]byte(s.ID)))
	if open != "" && open != string(s.Run) {
		c.say("session %s: its open run is %s and its newest %s", s.ID, open, s.Run)
	}
	if s.Status.Live() && open == "" {
		c.say("session %s: %s without an open run", s.ID, s.Status)
	}
	if !s.Status.Live() && s.Status != turn.LeaseExpired && open != "" {
		c.say("session %s: %s with an open run", s.ID, s.Status)
	}
	if !s.Workspace.Retired.IsZero() && open != "" {
		c.say("session %s: its worktree is being removed under an open run", s.ID)
	}
	if s.Lease.TokenFloor > s.Lease.Epoch {
		c.say("session %s: token floor %d above epoch %d", s.ID, s.Lease.TokenFloor, s.Lease.Epoch)
	}
	if key := dueKey(s); key != nil && !c.has(bucketDue, key) {
		c.say("session %s: %s, and its deadline is not indexed", s.ID, s.Status)
	}
	if s.Run == "" {
		return nil
	}
	r, err := c.t.run(s.Run)
	if err != nil {
		return err
	}
	actions, err := c.t.lastActions(r)
	if err != nil {
		return err
	}
	unfinished := 0
	for _, a := range actions {
		if a.State != turn.Finished {
			unfinished++
		}
	}
	if (unfinished > 0) != (s.Status == turn.Executing) && s.Status != turn.Stopping {
		c.say("session %s: %s with %d actions without a receipt", s.ID, s.Status, unfinished)
	}
	for _, id := range s.Undelivered {
		if _, err := c.t.action(id); err != nil {
			return err
		}
	}
	if s.LastResult != nil {
		c.body("session "+string(s.ID), s.LastResult.Text)
		c.body("session "+string(s.ID), s.LastResult.Changes)
	}
	if s.Approval != nil {
		c.body("session "+string(s.ID), s.Approval.Prompt)
	}
	return nil
}

// has reports whether a bucket holds a key, also one without a value.
func (c *checker) has(bucket, key []byte) bool {
	k, _ := c.t.tx.Bucket(bucket).Cursor().Seek(key)
	return bytes.Equal(k, key)
}

// due checks the index of deadlines from its own side.
func (c *checker) due() error {
	return c.t.tx.Bucket(bucketDue).ForEach(func(k, _ []byte) error {
		s, err := c.t.session(turn.SessionID(k[8:]))
		if err != nil {
			return err
		}
		if !bytes.Equal(k, dueKey(s)) {
			c.say("session %s: %s, and a deadline that it does not have is indexed", s.ID, s.Status)
		}
		return nil
	})
}

// leads checks that every entry of an index leads to an action.
func (c *checker) leads(index []byte) error {
	return c.t.tx.Bucket(index).ForEach(func(k, id []byte) error {
		if c.t.tx.Bucket(bucketActions).Get(id) == nil {
			c.say("%s %x: leads to action %s, which is missing", index, k, id)
		}
		return nil
	})
}

func (c *checker) run(r RunRecord) error {
	s, err := c.t.session(r.Session)
	if err != nil {
		return err
	}
	open := string(c.t.tx.Bucket(bucketOpen).Get([]byte(s.ID))) == string(r.ID)
	if open != r.Open() {
		c.say("run %s: open is %t and the index says %t", r.ID, r.Open(), open)
	}
	c.body("run "+string(r.ID), r.Prompt)
	turns := 0
	for next := r.Last; next != ""; turns++ {
		rec, err := c.t.turn(next)
		if err != nil {
			return err
		}
		if rec.Run != r.ID || rec.Sequence != r.Turns-turns {
			c.say("run %s: turn %s has run %s and sequence %d", r.ID, rec.ID, rec.Run, rec.Sequence)
		}
		if rec.Reply == nil && r.Open() && s.Pending != rec.ID && s.Status != turn.Stopping && s.Status != turn.LeaseExpired {
			c.say("turn %s: not answered and not pending", rec.ID)
		}
		next = rec.Prev
	}
	if turns != r.Turns {
		c.say("run %s: %d turns of %d", r.ID, turns, r.Turns)
	}
	return nil
}

func (c *checker) turn(r TurnRecord) error {
	if _, err := c.t.run(r.Run); err != nil {
		return err
	}
	if r.Reply == nil {
		return nil
	}
	c.body("turn "+string(r.ID), r.Reply.Text)
	for _, id := range r.Reply.Actions {
		a, err := c.t.action(id)
		if err != nil {
			return err
		}
		if a.Turn != r.ID || a.Run != r.Run {
			c.say("action %s: of turn %s, named by %s", a.ID, a.Turn, r.ID)
		}
	}
	return nil
}

func (c *checker) action(a ActionRecord) error {
	if a.Undoes == "" {
		if got := string(c.t.tx.Bucket(bucketToolUses).Get([]byte(a.ToolUse))); got != string(a.ID) {
			c.say("action %s: its tool_use id names %q", a.ID, got)
		}
	} else {
		undone, err := c.t.action(a.Undoes)
		if err != nil {
			return err
		}
		done := a.State == turn.Finished && a.Receipt.Outcome == turn.OK
		if done != (undone.UndoneBy == a.ID) {
			c.say("action %s: undoes %s, which says %q", a.ID, a.Undoes, undone.UndoneBy)
		}
		if (a.State != turn.Finished) != c.has(bucketUndoing, []byte(a.ID)) {
			c.say("action %s: %s, and the index of unfinished undos disagrees", a.ID, a.State)
		}
	}
	r, err := c.t.run(a.Run)
	if err != nil {
		return err
	}
	switch {
	case !a.Forgotten.IsZero() && r.Open():
		c.say("action %s: the content from before is forgotten, and its run has not ended", a.ID)
	case a.Intent != nil && a.Intent.Before.Exists && a.Forgotten.IsZero() && a.Intent.Before.SHA256 != a.Before.Digest():
		c.say("action %s: the content kept is not what the file held before", a.ID)
	}
	c.body("action "+string(a.ID), a.Before)
	c.body("action "+string(a.ID), a.Arguments)
	c.body("action "+string(a.ID), a.Text)
	if a.Receipt != nil && (a.Receipt.SHA256 != a.Text.Digest() || a.Receipt.Bytes != a.Text.Bytes) {
		c.say("action %s: its receipt and its text differ", a.ID)
	}
	return nil
}

func (c *checker) body(who string, b Body) {
	text, err := c.l.Text(b)
	if err != nil {
		c.say("%s: %w", who, err)
		return
	}
	if int64(len(text)) != b.Bytes || digest(text) != b.Digest() {
		c.say("%s: a body differs from its hash or size", who)
	}
}

// namedBodies returns the hashes of every body file that a record names.
func (l *Ledger) namedBodies() (map[string]bool, error) {
	named := map[string]bool{}
	name := func(bodies ...Body) {
		for _, b := range bodies {
			if b.Stored() {
				named[b.SHA256] = true
			}
		}
	}
	err := l.view(func(t *txn) error {
		if err := each(t, bucketSessions, func(s SessionRecord) error {
			if s.Approval != nil {
				name(s.Approval.Prompt)
			}
			if s.LastResult != nil {
				name(s.LastResult.Text, s.LastResult.Changes)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := each(t, bucketRuns, func(r RunRecord) error { name(r.Prompt); return nil }); err != nil {
			return err
		}
		if err := each(t, bucketTurns, func(r TurnRecord) error {
			if r.Reply != nil {
				name(r.Reply.Text)
			}
			return nil
		}); err != nil {
			return err
		}
		return each(t, bucketActions, func(a ActionRecord) error {
			name(a.Arguments, a.Text, a.Before)
			return nil
		})
	})
	return named, err
}
