package ledger

import (
	"time"

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
	l.naming.RLock()
	defer l.naming.RUnlock()
	prompt, err := l.putBody([]byte(in.Prompt))
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
		if switches, err := t.switches(); err != nil {
			return err
		} else if switches.Paused {
			return turn.Refuse(turn.Paused, "new sessions are paused at this computer")
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
// table says, and with capacity and worktree_removed.
func (l *Ledger) Continue(in ContinueInput) (Effect, error) {
	l.naming.RLock()
	defer l.naming.RUnlock()
	prompt, err := l.putBody([]byte(in.Prompt))
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
		if s.Approval != nil && s.Approval.State != ApprovalApproved {
			return &turn.Refusal{Code: turn.ApprovalDenied}
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
		if code := turn.Permit(s.Status, turn.CallRecover, s.denied()); code != "" {
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

// StopInput asks for the end of a session: by the holder of its lease if By is
// ByChatGPT, else by the person at the machine or by the gateway itself, who
// need neither lease nor key.
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
		if in.By == ByChatGPT {
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
			// Whoever stops it before a person answered takes the question back;
			// a recover must not be a way around the answer.
			s.Approval.State = ApprovalDenied
		}
		s.Stop = &StopRecord{RequestID: in.Key, Reason: in.Reason, By: in.By, At: t.now}
		if in.By == ByChatGPT {
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
		if in.By == ByChatGPT {
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
