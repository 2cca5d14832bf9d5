package ledger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// withWorktree starts a session whose worktree is made. Its run is open.
func (w *world) withWorktree(key string) ledger.Effect {
	w.t.Helper()
	in := startInput(key, 8)
	in.Profile = turn.WorktreeWrite
	in.Workspace = ledger.WorkspaceRecord{Kind: "worktree", Root: "/trees/a", Source: "/repo", Branch: "deckhand/a", Plan: []byte(`{}`)}
	e, err := w.Start(in)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.WorktreeMade(e.Session.ID, []byte(`{}`), turn.FileIdentity{Device: 1, Inode: 1}); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// fail ends the open run of a session.
func (w *world) fail(run turn.RunID) {
	w.t.Helper()
	if _, err := w.EndRun(run, ledger.End{Verb: turn.Fail, Code: turn.LaunchFailed}); err != nil {
		w.t.Fatal(err)
	}
}

func continueInput(e ledger.Effect, key string) ledger.ContinueInput {
	return ledger.ContinueInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("continue", string(e.Session.ID)), Key: turn.Key(key), Digest: "d"},
		Session: e.Session.ID, Lease: e.Session.Lease.ID, Prompt: "go on", LeaseFor: time.Hour, MaxLive: 8,
	}
}

func TestARetiredWorktreeGetsNoRunUntilItIsKept(t *testing.T) {
	w := newWorld(t)
	e := w.withWorktree("k")
	id := e.Session.ID
	wantCode(t, w.RetireWorktree(id), turn.RunActive)
	wantCode(t, w.BeginWorktreeCall(id, ledger.ApplyCall), turn.RunActive)
	w.fail(e.Run.ID)
	for range 2 { // the same again, as after a crash
		if err := w.RetireWorktree(id); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Continue(continueInput(e, "key-1"))
	wantCode(t, err, turn.WorktreeRemoved)
	wantCode(t, w.BeginWorktreeCall(id, ledger.CommitCall), turn.WorktreeRemoved)
	if err := w.KeepWorktree(id, turn.WorktreeNotClean); err != nil {
		t.Fatal(err)
	}
	// The refusal has not used the key up.
	going, err := w.Continue(continueInput(e, "key-1"))
	if err != nil || going.Replay {
		t.Fatalf("continued: %+v, %v", going, err)
	}
	w.fail(going.Run.ID)
	if err := w.RetireWorktree(id); err != nil {
		t.Fatal(err)
	}
	if err := w.WorktreeRemoved(id); err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.RetireWorktree(id), turn.WorktreeRemoved)
	_, err = w.Continue(continueInput(e, "key-2"))
	wantCode(t, err, turn.WorktreeRemoved)
	if w.KeepWorktree(id, "") == nil || w.WorktreeRemoved(id) == nil {
		t.Error("what is removed was kept, or removed again")
	}
}

func TestOnlyASessionWithAWorktreeHasOneToRemove(t *testing.T) {
	w := newWorld(t)
	plain := w.start("plain")
	wantCode(t, w.RetireWorktree(plain.Session.ID), turn.NoWorktree)
	in := startInput("early", 8)
	in.Profile, in.Workspace = turn.WorktreeWrite, ledger.WorkspaceRecord{Kind: "worktree", Root: "/trees/b", Source: "/repo", Plan: []byte(`{}`)}
	early, err := w.Start(in)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.RetireWorktree(early.Session.ID), turn.NoWorktree)
	wantCode(t, w.RetireWorktree("ses_nobody"), turn.UnknownSession)
	e := w.withWorktree("k")
	if w.KeepWorktree(e.Session.ID, "") == nil || w.WorktreeRemoved(e.Session.ID) == nil {
		t.Error("what is not being removed was kept, or removed")
	}
}

// TestARetirementAndARunExcludeEachOther races the two transactions.
func TestARetirementAndARunExcludeEachOther(t *testing.T) {
	w := newWorld(t)
	e := w.withWorktree("k")
	w.fail(e.Run.ID)
	for i := range 100 {
		var going ledger.Effect
		var continueErr, retireErr error
		var calls sync.WaitGroup
		calls.Go(func() { going, continueErr = w.Continue(continueInput(e, fmt.Sprint("key-", i))) })
		calls.Go(func() { retireErr = w.RetireWorktree(e.Session.ID) })
		calls.Wait()
		if (continueErr == nil) == (retireErr == nil) {
			t.Fatalf("round %d: continue %v, retire %v", i, continueErr, retireErr)
		}
		if continueErr == nil {
			wantCode(t, retireErr, turn.RunActive)
			w.fail(going.Run.ID)
			continue
		}
		wantCode(t, continueErr, turn.WorktreeRemoved)
		if err := w.KeepWorktree(e.Session.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatAPersonDoesWithAWorktreeIsInTheLog reads the events, which tell who,
// what and when, and no content.
func TestWhatAPersonDoesWithAWorktreeIsInTheLog(t *testing.T) {
	w := newWorld(t)
	e := w.withWorktree("k")
	id := e.Session.ID
	w.fail(e.Run.ID)
	before, err := w.LastEvent()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []error{
		w.BeginWorktreeCall(id, ledger.ApplyCall), w.EndWorktreeCall(id, ledger.ApplyCall, ledger.WorktreeEffect{Files: 3}),
		w.EndWorktreeCall(id, ledger.ApplyCall, ledger.WorktreeEffect{Code: turn.ApplyConflict}),
		w.BeginWorktreeCall(id, ledger.CommitCall), w.EndWorktreeCall(id, ledger.CommitCall, ledger.WorktreeEffect{Commit: "c0ffee"}),
		w.RetireWorktree(id), w.KeepWorktree(id, turn.WorktreeNotClean), w.RetireWorktree(id), w.WorktreeRemoved(id),
	} {
		if verb != nil {
			t.Fatal(verb)
		}
	}
	got, err := w.Events(before, id, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []turn.Event{
		{Kind: "worktree.apply_begun"}, {Kind: "worktree.applied", Outcome: turn.OK, Files: 3},
		{Kind: "worktree.apply_refused", Outcome: turn.Error, Code: turn.ApplyConflict},
		{Kind: "worktree.commit_begun"}, {Kind: "worktree.committed", Outcome: turn.OK, Subject: "c0ffee"},
		{Kind: "worktree.removing"}, {Kind: "worktree.kept", Code: turn.WorktreeNotClean, By: "gateway"},
		{Kind: "worktree.removing"}, {Kind: "worktree.removed"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d: %+v", len(got), len(want), got)
	}
	for i, e := range want {
		e.Seq, e.At, e.Session = got[i].Seq, w.now, id
		if e.By == "" {
			e.By = "user"
		}
		if got[i] != e {
			t.Errorf("event %+v, want %+v", got[i], e)
		}
	}
}

// TestAnUndoAndARemovalExcludeEachOther begins each while the other lasts.
func TestAnUndoAndARemovalExcludeEachOther(t *testing.T) {
	w := newWorld(t)
	e := w.withWorktree("k")
	written := w.written(e)
	w.fail(e.Run.ID)
	undo, err := w.BeginUndo(written)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, w.RetireWorktree(e.Session.ID), turn.WorktreeBusy)
	if _, err := w.Finish(undo.ID, turn.Failure(turn.UndoConflict, "it changed")); err != nil {
		t.Fatal(err)
	}
	if err := w.RetireWorktree(e.Session.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.BeginUndo(written)
	wantCode(t, err, turn.WorktreeRemoved)
}

// written takes a session's run through one write and returns the action.
func (w *world) written(e ledger.Effect) turn.ActionID {
	w.t.Helper()
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "reply-1", "", "Write"))
	a := w.begin(w.actions(first.ID)[0])
	intent := turn.WriteIntent{Path: "/trees/a/f", After: turn.FileState{Exists: true, SHA256: "x", Bytes: 1}}
	if err := w.Prepare(a.ID, intent, nil); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK, Text: "written", Write: &turn.WriteMark{Path: "/trees/a/f"}}); err != nil {
		w.t.Fatal(err)
	}
	return a.ID
}
