package ledger_test

import (
	"errors"
	"testing"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

func TestSameKeyAndInputIsAReplay(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	again := w.start("k")
	if !again.Replay || !again.Holds || again.Session.ID != e.Session.ID || again.Run.ID != e.Run.ID {
		t.Errorf("the repeat: %+v", again)
	}
	in := startInput("k", 8)
	in.Digest = "other"
	_, err := w.Start(in)
	wantCode(t, err, turn.IdempotencyConflict)
	if views, err := w.Views(); err != nil || len(views) != 1 {
		t.Errorf("%d sessions, %v", len(views), err)
	}
}

func TestARefusalDoesNotUseUpItsKey(t *testing.T) {
	w := newWorld(t)
	first := w.start("a")
	_, err := w.Start(startInput("b", 1))
	wantCode(t, err, turn.Capacity)
	if _, err := w.EndRun(first.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.ClaudeExited}); err != nil {
		t.Fatal(err)
	}
	if e, err := w.Start(startInput("b", 1)); err != nil || e.Replay {
		t.Errorf("the same key after the refusal: %+v, %v", e, err)
	}
}

func TestTwoHoldersOfOneLeaseCannotBothAnswer(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, rec.ID, "mine", "", "Read"))
	_, err := w.Reply(replyInput(e, rec.ID, "yours", "", "Read"))
	wantCode(t, err, turn.TurnNotPending)
	if got := len(w.actions(rec.ID)); got != 1 {
		t.Errorf("%d actions", got)
	}
}

func (w *world) recover(e ledger.Effect, id turn.Key, epoch turn.Epoch) (ledger.Effect, error) {
	return w.Recover(ledger.RecoverInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("recover", string(e.Session.ID)), Key: id, Digest: "token"},
		Session: e.Session.ID, TokenOf: func(of turn.Epoch) bool { return of == epoch }, LeaseFor: time.Hour,
	})
}

func TestRecoverRotatesTheLease(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	got, err := w.recover(e, "rec-1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.Session.Status != turn.WaitingForGPT || got.Session.Lease.ID == e.Session.Lease.ID || got.Session.Lease.Epoch != 2 {
		t.Errorf("recovered: %s, %+v", got.Session.Status, got.Session.Lease)
	}
	_, err = w.Reply(replyInput(e, rec.ID, "late", "", "Read"))
	wantCode(t, err, turn.LeaseMismatch)

	// The answer was lost, so the first token still works, for a new request.
	second, err := w.recover(e, "rec-2", 1)
	if err != nil {
		t.Fatal(err)
	}
	// The first request again: its lease was rotated since and is not shown.
	if late, err := w.recover(e, "rec-1", 1); err != nil || !late.Replay || late.Holds {
		t.Errorf("a late repeat: %+v, %v", late, err)
	}
	if err := w.UseLease(e.Session.ID, second.Session.Lease.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.recover(e, "rec-3", 1)
	wantCode(t, err, turn.RecoveryRefused)
	if _, err := w.recover(e, "rec-3", 3); err != nil {
		t.Errorf("the present token: %v", err)
	}
}

func TestAnExpiredLeaseStopsTheRunAndStaysReadable(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	w.now = w.now.Add(time.Hour)
	_, err := w.Reply(replyInput(e, rec.ID, "late", "x"))
	wantCode(t, err, turn.LeaseExpiredCode)
	if expired, err := w.ExpireDue(); err != nil || len(expired) != 1 {
		t.Fatalf("expired %v, %v", expired, err)
	}
	if _, err := w.recover(e, "rec", 1); !errors.Is(err, ledger.ErrRunOpen) {
		t.Errorf("recover while the run is being ended: %v", err)
	}
	if _, err := w.Offer(e.Run.ID, "d2", ledger.Tail{}, none); !errors.Is(err, ledger.ErrRunSettled) {
		t.Errorf("an offer after the end of the lease: %v", err)
	}
	s, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.ClaudeExited})
	if err != nil || s.Status != turn.LeaseExpired || s.LastResult.Outcome != ledger.RunExpired {
		t.Errorf("after the run: %s, %+v, %v", s.Status, s.LastResult, err)
	}
	got, err := w.recover(e, "rec", 1)
	if err != nil || got.Session.Status != turn.Idle {
		t.Errorf("recovered: %s, %v", got.Session.Status, err)
	}
}

func TestALeaseDoesNotEndWhileAnActionRuns(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, rec.ID, "r", "", "Read"))
	a := w.begin(w.actions(rec.ID)[0])
	w.now = w.now.Add(3 * time.Hour)
	if expired, err := w.ExpireDue(); err != nil || len(expired) != 0 {
		t.Fatalf("expired %v, %v", expired, err)
	}
	if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK}); err != nil {
		t.Fatal(err)
	}
	if expired, err := w.ExpireDue(); err != nil || len(expired) != 1 {
		t.Errorf("after the action: expired %v, %v", expired, err)
	}
}

func TestAReplyRenewsTheLease(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	w.now = w.now.Add(50 * time.Minute)
	w.reply(replyInput(e, rec.ID, "r", "", "Read"))
	if next, err := w.NextDue(); err != nil || !next.IsZero() {
		t.Errorf("an executing session has a lease end: %s, %v", next, err)
	}
	a := w.begin(w.actions(rec.ID)[0])
	if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK}); err != nil {
		t.Fatal(err)
	}
	if next, err := w.NextDue(); err != nil || !next.Equal(w.now.Add(time.Hour)) {
		t.Errorf("next lease end: %s, %v", next, err)
	}
}

func stopInput(e ledger.Effect, id turn.Key, by ledger.Actor) ledger.StopInput {
	return ledger.StopInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("stop", string(e.Session.ID)), Key: id, Digest: "why"},
		Session: e.Session.ID, Lease: e.Session.Lease.ID, Reason: "why", By: by,
	}
}

func TestStopEndsTheRunFirst(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	w.offer(e.Run.ID, "d1")
	got, err := w.Stop(stopInput(e, "s1", ledger.ByChatGPT))
	if err != nil || got.Session.Status != turn.Stopping {
		t.Fatalf("stop: %s, %v", got.Session.Status, err)
	}
	if again, err := w.Stop(stopInput(e, "s2", ledger.ByChatGPT)); err != nil || !again.Replay {
		t.Errorf("another stop: %+v, %v", again, err)
	}
	s, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.ClaudeExited})
	if err != nil || s.Status != turn.Stopped || s.Stop.Reason != "why" || s.LastResult.Outcome != ledger.RunStopped {
		t.Errorf("after the run: %s, %+v, %v", s.Status, s.Stop, err)
	}
	rec, err := w.recover(e, "rec", 1)
	if err != nil || rec.Session.Status != turn.Idle || rec.Session.Stop != nil || rec.Session.Terminal != nil {
		t.Errorf("recovered: %+v, %v", rec.Session, err)
	}
}

func TestStopOfAnIdleSessionIsAtOnce(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	if _, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.NoFirstTurn}); err != nil {
		t.Fatal(err)
	}
	in := stopInput(e, "user", ledger.ByUser)
	in.Lease = ""
	got, err := w.Stop(in)
	if err != nil || got.Session.Status != turn.Stopped || got.Session.Stop.By != ledger.ByUser {
		t.Errorf("stop: %+v, %v", got.Session, err)
	}
}

func TestUnknownSession(t *testing.T) {
	w := newWorld(t)
	_, err := w.View("ses_made_up")
	wantCode(t, err, turn.UnknownSession)
	_, err = w.Reply(ledger.ReplyInput{Input: ledger.Input{Scope: "x", Key: "y", Digest: "z"}, Session: "ses_made_up"})
	wantCode(t, err, turn.UnknownSession)
}

func TestEventsNameEveryChangeInOrder(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	rec := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, rec.ID, "r", "the end"))
	if _, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Complete}); err != nil {
		t.Fatal(err)
	}
	events, err := w.Events(0, e.Session.ID, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		kind     string
		from, to turn.Status
	}{
		{"session.started", "", turn.Starting},
		{"turn.opened", turn.Starting, turn.WaitingForGPT},
		{"turn.answered", turn.WaitingForGPT, turn.Running},
		{"run.ended", turn.Running, turn.Idle},
	}
	if len(events) != len(want) {
		t.Fatalf("%d events: %+v", len(events), events)
	}
	for i, got := range events {
		if got.Seq != uint64(i+1) || got.Kind != want[i].kind || got.From != want[i].from || got.To != want[i].to {
			t.Errorf("event %d: %+v, want %+v", i, got, want[i])
		}
	}
	if later, err := w.Events(2, "", 1); err != nil || len(later) != 1 || later[0].Seq != 3 {
		t.Errorf("events after 2, at most 1: %+v, %v", later, err)
	}
}

// A write that nobody can tell the outcome of is stopped by the gateway, which
// holds no lease.
func TestTheGatewayStopsWithoutALease(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	w.offer(e.Run.ID, "d1")
	in := stopInput(e, "act_1", ledger.ByGateway)
	in.Lease = ""
	if got, err := w.Stop(in); err != nil || got.Session.Status != turn.Stopping || got.Session.Stop.By != ledger.ByGateway {
		t.Errorf("stop: %+v, %v", got.Session.Stop, err)
	}
	in = stopInput(e, "s1", ledger.ByChatGPT)
	in.Lease = ""
	_, err := w.Stop(in)
	wantCode(t, err, turn.LeaseMismatch)
}
