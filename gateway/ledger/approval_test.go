package ledger_test

import (
	"testing"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

func (w *world) ask(key string, profile turn.Profile, workspace ledger.WorkspaceRecord) ledger.Effect {
	w.t.Helper()
	in := startInput(key, 8)
	in.Profile, in.Workspace, in.AskFor = profile, workspace, 10*time.Minute
	e, err := w.Start(in)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func TestAnApprovalStartsTheRunAndTrustsTheFolder(t *testing.T) {
	for profile, c := range map[turn.Profile]struct {
		workspace ledger.WorkspaceRecord
		folder    string
	}{
		turn.ReadOnly:      {ledger.WorkspaceRecord{}, "/src"},
		turn.DirectWrite:   {ledger.WorkspaceRecord{Kind: "direct", Root: "/src"}, "/src"},
		turn.WorktreeWrite: {ledger.WorkspaceRecord{Kind: "worktree", Root: "/trees/a", Source: "/repo"}, "/repo"},
	} {
		t.Run(string(profile), func(t *testing.T) {
			w := newWorld(t)
			e := w.ask("k", profile, c.workspace)
			if e.Session.Status != turn.AwaitingApproval || e.Run.ID != "" {
				t.Fatalf("asked: %s with run %q", e.Session.Status, e.Run.ID)
			}
			_, err := w.Approve(e.Session.ID, 2, true, time.Hour, 8)
			wantCode(t, err, turn.ApprovalNotPending)
			got, err := w.Approve(e.Session.ID, 1, true, time.Hour, 8)
			if err != nil || got.Session.Status != turn.Starting || got.Run.ID == "" {
				t.Fatalf("approved: %+v, %v", got.Session, err)
			}
			if trusted, err := w.Trusted(profile, c.folder); err != nil || !trusted {
				t.Errorf("%s is trusted: %t, %v", c.folder, trusted, err)
			}
			_, err = w.Deny(e.Session.ID, 1)
			wantCode(t, err, turn.ApprovalNotPending)
		})
	}
}

func TestAnApprovalThatNobodyGivesIsANo(t *testing.T) {
	w := newWorld(t)
	e := w.ask("k", turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"})
	w.now = w.now.Add(10 * time.Minute)
	if ended, err := w.ExpireDue(); err != nil || len(ended) != 1 {
		t.Fatalf("ended %v, %v", ended, err)
	}
	if got := w.status(e.Session.ID); got != turn.Stopped {
		t.Errorf("after ten minutes: %s", got)
	}
	_, err := w.recover(e, "rec", 1)
	wantCode(t, err, turn.ApprovalDenied)
	_, err = w.Approve(e.Session.ID, 1, true, time.Hour, 8)
	wantCode(t, err, turn.ApprovalNotPending)
}

// Stopping a session before a person answered, and taking it up again, must
// not be a way to run it.
func TestAStopIsNoWayAroundAnApproval(t *testing.T) {
	w := newWorld(t)
	e := w.ask("k", turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"})
	if got, err := w.Stop(stopInput(e, "s1", ledger.ByChatGPT)); err != nil || got.Session.Status != turn.Stopped {
		t.Fatalf("stopped: %s, %v", got.Session.Status, err)
	}
	_, err := w.recover(e, "rec", 1)
	wantCode(t, err, turn.ApprovalDenied)
	_, err = w.Approve(e.Session.ID, 1, false, time.Hour, 8)
	wantCode(t, err, turn.ApprovalNotPending)
	if runs, err := w.OpenRuns(); err != nil || len(runs) != 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}
