package ledger

import (
	"time"

	bolt "go.etcd.io/bbolt"

	"deckhand/gateway/turn"
)

// Effect is what a call found or did.
type Effect struct {
	Session SessionRecord
	Run     RunRecord
	// Replay says that it had been done before and that nothing changed now.
	Replay bool
	// Holds says that the caller holds the present lease. A repeat whose lease
	// was rotated since does not, and must not be told the new one.
	Holds bool
}

// StartInput is a new session and its first run.
type StartInput struct {
	Input
	// ID is the new session's.
	ID               turn.SessionID
	ClaudeSession    string
	Label            string
	Profile          turn.Profile
	Subagent         turn.SubagentPolicy
	WorkingDirectory string
	Workspace        WorkspaceRecord
	Prompt           string
	// AskFor is how long a person has to allow the session; 0 starts it now.
	AskFor time.Duration
	// LeaseFor is how long the first lease lasts.
	LeaseFor time.Duration
	// MaxLive is how many sessions may have an open run, this one included.
	MaxLive int
}

// Start records a session, its lease and, unless a person is asked first, its
// first run, which is not running yet. It refuses with capacity and
// idempotency_conflict.
func (l *Ledger) Start(in StartInput) (Effect, error) {
	prompt, err := l.putBody(in.Prompt)
	if err != nil {
		return Effect{}, err
	}
	var e Effect
	err = l.update(func(t *txn) error {
		if k, ok, err := t.effect(in.Input); err != nil {
			return err
		} else if ok {
			e, err = t.replay(k.Session, k.Lease)
			return err
		}
		s := SessionRecord{
			V: recordVersion, ID: in.ID, ClaudeSession: in.ClaudeSession, Label: in.Label,
			Profile: in.Profile, Subagent: in.Subagent, WorkingDirectory: in.WorkingDirectory, Workspace: in.Workspace,
			Status: turn.Starting, CreatedAt: t.now,
			Lease: turn.Lease{ID: turn.NewLeaseID(), Epoch: 1, ExpiresAt: t.now.Add(in.LeaseFor), TokenFloor: 1},
		}
		var run RunRecord
		kind := "session.started"
		if in.AskFor > 0 {
			kind = "approval.requested"
			s.Status = turn.AwaitingApproval
			s.Approval = &ApprovalRecord{State: ApprovalPending, Generation: 1, ExpiresAt: t.now.Add(in.AskFor), Prompt: prompt}
		} else {
			if err := t.roomFor(in.MaxLive); err != nil {
				return err
			}
			if run, err = t.beginRun(&s, prompt); err != nil {
				return err
			}
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		if err := t.putEffect(in.Input, s); err != nil {
			return err
		}
		e = Effect{Session: s, Run: run, Holds: true}
		return t.changed(s, "", ByChatGPT, kind,
			turn.Event{Run: run.ID, Bytes: prompt.Bytes, SHA256: prompt.Digest()})
	})
	return e, err
}

// ContinueInput is a new run of a session.
type ContinueInput struct {
	Input
	Session  turn.SessionID
	Lease    turn.LeaseID
	Prompt   string
	LeaseFor time.Duration
	MaxLive  int
}

// Continue records a new run and renews the lease. It refuses as the status
// table says, and with capacity.
func (l *Ledger) Continue(in ContinueInput) (Effect, error) {
	prompt, err := l.putBody(in.Prompt)
	if err != nil {
		return Effect{}, err
	}
	var e Effect
	err = l.update(func(t *txn) error {
		s, replayed, err := t.claim(in.Session, in.Lease, in.Input, turn.CallContinue)
		if err != nil {
			return err
		}
		if replayed {
			e, err = t.replay(s.ID, in.Lease)
			return err
		}
		if err := t.roomFor(in.MaxLive); err != nil {
			return err
		}
		from := s.Status
		if err := t.move(&s, turn.Continue); err != nil {
			return err
		}
		run, err := t.beginRun(&s, prompt)
		if err != nil {
			return err
		}
		s.Lease = s.Lease.Use()
		s.Lease.ExpiresAt = t.now.Add(in.LeaseFor)
		if err := t.putSession(&s); err != nil {
			return err
		}
		if err := t.putEffect(in.Input, s); err != nil {
			return err
		}
		e = Effect{Session: s, Run: run, Holds: true}
		return t.changed(s, from, ByChatGPT, "session.continued",
			turn.Event{Run: run.ID, Bytes: prompt.Bytes, SHA256: prompt.Digest()})
	})
	return e, err
}

// RecoverInput exchanges a recovery token for a new lease.
type RecoverInput struct {
	Input
	Session turn.SessionID
	// TokenOf reports whether the caller's token is the one of an epoch.
	TokenOf  func(turn.Epoch) bool
	LeaseFor time.Duration
}

// Recover rotates the lease. It refuses with recovery_refused if the token is
// of no epoch that still counts, and as the status table says. ErrRunOpen says
// that an expired session's run has to end first.
func (l *Ledger) Recover(in RecoverInput) (Effect, error) {
	var e Effect
	err := l.update(func(t *txn) error {
		s, err := t.session(in.Session)
		if err != nil {
			return err
		}
		k, replayed, err := t.effect(in.Input)
		if err != nil {
			return err
		}
		if !replayed && !s.Lease.AcceptsTokenOf(in.TokenOf) {
			return &turn.Refusal{Code: turn.RecoveryRefused}
		}
		if replayed {
			e, err = t.replay(k.Session, k.Lease)
			return err
		}
		denied := s.Terminal != nil && s.Terminal.Code == turn.ApprovalDenied
		if code := turn.Permit(s.Status, turn.CallRecover, denied); code != "" {
			return &turn.Refusal{Code: code}
		}
		if s.Lease.Expired(t.now) && canExpire(s) {
			if err := t.expire(&s); err != nil {
				return err
			}
		}
		if s.Status == turn.LeaseExpired && t.hasOpenRun(s) {
			return ErrRunOpen
		}
		from := s.Status
		if err := t.move(&s, turn.Recover); err != nil {
			return err
		}
		s.Lease = s.Lease.Rotate(turn.NewLeaseID(), t.now.Add(in.LeaseFor))
		s.Brief, s.Stop, s.Terminal = true, nil, nil
		if err := t.putSession(&s); err != nil {
			return err
		}
		if err := t.putEffect(in.Input, s); err != nil {
			return err
		}
		run, err := t.latestRun(s)
		if err != nil {
			return err
		}
		e = Effect{Session: s, Run: run, Holds: true}
		return t.changed(s, from, ByChatGPT, "session.recovered", turn.Event{Run: s.Run})
	})
	return e, err
}

// StopInput asks for the end of a session, by the holder of its lease or, if
// By is ByUser, by the person at the machine.
type StopInput struct {
	Input
	Session turn.SessionID
	Lease   turn.LeaseID
	Reason  string
	By      Actor
}

// Stop marks the session as stopping and, if nothing of it runs, as stopped.
// A session that is already on its way is a replay.
func (l *Ledger) Stop(in StopInput) (Effect, error) {
	var e Effect
	err := l.update(func(t *txn) error {
		s, err := t.session(in.Session)
		if err != nil {
			return err
		}
		if in.By != ByUser {
			k, replayed, err := t.effect(in.Input)
			if err != nil {
				return err
			}
			if replayed {
				if err := mayReplay(s, k, in.Lease); err != nil {
					return err
				}
				e, err = t.replay(s.ID, in.Lease)
				return err
			}
			if in.Lease != s.Lease.ID {
				return &turn.Refusal{Code: turn.LeaseMismatch}
			}
		}
		switch code := turn.Permit(s.Status, turn.CallStop, false); code {
		case "":
		case turn.Replay:
			e, err = t.replay(s.ID, in.Lease)
			return err
		default:
			return &turn.Refusal{Code: code}
		}
		from := s.Status
		if err := t.move(&s, turn.Stop); err != nil {
			return err
		}
		if s.Approval != nil && s.Approval.State == ApprovalPending {
			s.Approval.State = ApprovalDenied
		}
		s.Stop = &StopRecord{RequestID: in.Key, Reason: in.Reason, By: in.By, At: t.now}
		if in.By != ByUser {
			s.Lease = s.Lease.Use()
		}
		if !t.hasOpenRun(s) {
			if err := t.halt(&s); err != nil {
				return err
			}
		}
		if err := t.putSession(&s); err != nil {
			return err
		}
		if in.By != ByUser {
			if err := t.putEffect(in.Input, s); err != nil {
				return err
			}
		}
		run, err := t.latestRun(s)
		if err != nil {
			return err
		}
		e = Effect{Session: s, Run: run, Holds: true}
		return t.changed(s, from, in.By, "session.stop_requested", turn.Event{Run: s.Run})
	})
	return e, err
}

// halt stops a session of which nothing runs.
func (t *txn) halt(s *SessionRecord) error {
	if err := t.move(s, turn.Halt); err != nil {
		return err
	}
	s.Terminal = &TerminalRecord{Outcome: RunStopped, At: t.now}
	return nil
}

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

// latestRun returns the newest run, or a zero one if there was none.
func (t *txn) latestRun(s SessionRecord) (RunRecord, error) {
	if s.Run == "" {
		return RunRecord{}, nil
	}
	return t.run(s.Run)
}

func (t *txn) hasOpenRun(s SessionRecord) bool {
	return t.tx.Bucket(bucketOpen).Get([]byte(s.ID)) != nil
}

func (t *txn) roomFor(maxLive int) error {
	live := 0
	for c, k := cursorAt(t, bucketOpen); k != nil; k, _ = c.Next() {
		live++
	}
	if live >= maxLive {
		return turn.Refuse(turn.Capacity, "%d of %d sessions are live", live, maxLive)
	}
	return nil
}

// cursorAt returns a cursor over a bucket and its first key.
func cursorAt(t *txn, bucket []byte) (*bolt.Cursor, []byte) {
	c := t.tx.Bucket(bucket).Cursor()
	k, _ := c.First()
	return c, k
}
