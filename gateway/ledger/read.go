package ledger

import (
	"slices"

	"deckhand/gateway/turn"
)

// View is one session as of one moment, with what an answer shows of it.
type View struct {
	Session SessionRecord
	// Run is the newest run, zero if there was none.
	Run RunRecord
	// Pending is the turn that waits for a reply, nil if none does.
	Pending *TurnRecord
	// Results are the actions of Pending, in order.
	Results []ActionRecord
	// Open are the actions of the newest reply that have begun.
	Open []ActionRecord
}

// View returns a session, or unknown_session.
func (l *Ledger) View(id turn.SessionID) (View, error) {
	var v View
	err := l.view(func(t *txn) error {
		var err error
		v, err = t.viewOf(id)
		return err
	})
	return v, err
}

func (t *txn) viewOf(id turn.SessionID) (View, error) {
	var v View
	var err error
	if v.Session, err = t.session(id); err != nil {
		return v, err
	}
	if v.Run, err = t.latestRun(v.Session); err != nil {
		return v, err
	}
	if v.Session.Pending != "" {
		pending, err := t.turn(v.Session.Pending)
		if err != nil {
			return v, err
		}
		v.Pending = &pending
		for _, id := range pending.Results {
			a, err := t.action(id)
			if err != nil {
				return v, err
			}
			v.Results = append(v.Results, a)
		}
	}
	if v.Run.ID != "" && v.Run.Open() {
		actions, err := t.lastActions(v.Run)
		if err != nil {
			return v, err
		}
		for _, a := range actions {
			if a.State == turn.Begun {
				v.Open = append(v.Open, a)
			}
		}
	}
	return v, nil
}

// Views returns every session, newest first.
func (l *Ledger) Views() ([]View, error) {
	var views []View
	err := l.view(func(t *txn) error {
		return t.tx.Bucket(bucketSessions).ForEach(func(k, _ []byte) error {
			v, err := t.viewOf(turn.SessionID(k))
			views = append(views, v)
			return err
		})
	})
	slices.SortFunc(views, func(a, b View) int { return b.Session.CreatedAt.Compare(a.Session.CreatedAt) })
	return views, err
}

// OpenRuns returns every run that has not ended.
func (l *Ledger) OpenRuns() ([]RunRecord, error) {
	var runs []RunRecord
	err := l.view(func(t *txn) error {
		return t.tx.Bucket(bucketOpen).ForEach(func(_, id []byte) error {
			r, err := t.run(turn.RunID(id))
			runs = append(runs, r)
			return err
		})
	})
	return runs, err
}

// Run returns a run and its session. ErrRunSettled says that there is none.
func (l *Ledger) Run(id turn.RunID) (RunRecord, SessionRecord, error) {
	var r RunRecord
	var s SessionRecord
	err := l.view(func(t *txn) error {
		var ok bool
		var err error
		if r, ok, err = get[RunRecord](t, bucketRuns, string(id)); err != nil {
			return err
		}
		if !ok {
			return ErrRunSettled
		}
		s, err = t.session(r.Session)
		return err
	})
	return r, s, err
}

// Answered is a turn with its reply's actions, if it has a reply.
type Answered struct {
	Turn    TurnRecord
	Actions []ActionRecord
}

// Turn returns a turn with the actions that its reply authorised.
func (l *Ledger) Turn(id turn.TurnID) (Answered, error) {
	var a Answered
	err := l.view(func(t *txn) error {
		var err error
		a, err = t.answered(id)
		return err
	})
	return a, err
}

func (t *txn) answered(id turn.TurnID) (Answered, error) {
	rec, err := t.turn(id)
	if err != nil || rec.Reply == nil {
		return Answered{Turn: rec}, err
	}
	a := Answered{Turn: rec}
	for _, id := range rec.Reply.Actions {
		action, err := t.action(id)
		if err != nil {
			return a, err
		}
		a.Actions = append(a.Actions, action)
	}
	return a, nil
}

// PastTurn is a turn of the past with its run.
type PastTurn struct {
	Answered
	Run RunRecord
}

// History returns the newest turns of a session over all its runs, oldest
// first, up to limit, and whether there are older ones.
func (l *Ledger) History(id turn.SessionID, limit int) (past []PastTurn, more bool, err error) {
	err = l.view(func(t *txn) error {
		s, err := t.session(id)
		if err != nil {
			return err
		}
		for run := s.Run; run != "" && !more; {
			r, err := t.run(run)
			if err != nil {
				return err
			}
			for next := r.Last; next != ""; {
				if len(past) == limit {
					more = true
					return nil
				}
				a, err := t.answered(next)
				if err != nil {
					return err
				}
				past = append(past, PastTurn{Answered: a, Run: r})
				next = a.Turn.Prev
			}
			run = r.Prev
		}
		return nil
	})
	slices.Reverse(past)
	return past, more, err
}
