package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// trust lets a person allow a session of a profile in a folder, once and for all.
func (w *world) trust(key string, profile turn.Profile, workspace ledger.WorkspaceRecord) turn.SessionID {
	w.t.Helper()
	e := w.ask(key, profile, workspace)
	if _, err := w.Approve(e.Session.ID, 1, true, time.Hour, 8); err != nil {
		w.t.Fatal(err)
	}
	return e.Session.ID
}

func TestTrustIsListedAndTakenBackByFolder(t *testing.T) {
	w := newWorld(t)
	since := w.now
	tree := ledger.WorkspaceRecord{Kind: "worktree", Root: "/trees/a", Source: "/repo", Plan: []byte(`{}`)}
	w.trust("a", turn.WorktreeWrite, tree)
	w.now = w.now.Add(time.Hour)
	w.trust("b", turn.WorktreeWrite, tree) // was trusted before
	w.trust("c", turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"})
	w.trust("d", turn.ReadOnly, ledger.WorkspaceRecord{})
	later := w.now
	want := []ledger.Trust{
		{Profile: turn.WorktreeWrite, Folder: "/repo", Since: since},
		{Profile: turn.DirectWrite, Folder: "/src", Since: later},
		{Profile: turn.ReadOnly, Folder: "/src", Since: later},
	}
	got, err := w.Trusts()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	for _, folder := range []string{"/", "/sr", "/src/", "/trees/a"} {
		_, err := w.Revoke(folder)
		wantCode(t, err, turn.NotTrusted)
	}
	if got, err = w.Revoke("/src"); err != nil || len(got) != 2 {
		t.Fatalf("revoked %+v, %v", got, err)
	}
	_, err = w.Revoke("/src")
	wantCode(t, err, turn.NotTrusted)
	if trusted, err := w.Trusted(turn.DirectWrite, "/src"); err != nil || trusted {
		t.Errorf("it is still trusted: %v", err)
	}
	if got, err = w.Trusts(); err != nil || len(got) != 1 {
		t.Errorf("left: %+v, %v", got, err)
	}
}

func TestAllTrustIsTakenBackAtOnceAndTheLogTells(t *testing.T) {
	w := newWorld(t)
	id := w.trust("a", turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"})
	if got, err := w.RevokeAll(); err != nil || len(got) != 1 {
		t.Fatalf("revoked %+v, %v", got, err)
	}
	if got, err := w.RevokeAll(); err != nil || len(got) != 0 {
		t.Fatalf("revoked again %+v, %v", got, err)
	}
	events, err := w.Events(0, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range events {
		if e.Name == string(turn.DirectWrite) && e.Subject == "/src" && e.By == "user" {
			kinds = append(kinds, e.Kind+" "+string(e.Session))
		}
	}
	if diff := cmp.Diff([]string{"trust.given " + string(id), "trust.revoked "}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestEveryCommitThatTellsAnEventWakesWhoWaits also if no session changed.
func TestEveryCommitThatTellsAnEventWakesWhoWaits(t *testing.T) {
	w := newWorld(t)
	var told []turn.SessionID
	w.heard = func(id turn.SessionID) { told = append(told, id) }
	id := w.trust("a", turn.WorktreeWrite, ledger.WorkspaceRecord{Kind: "worktree", Root: "/trees/a", Source: "/repo", Plan: []byte(`{}`)})
	if err := w.WorktreeMade(id, []byte(`{}`), turn.FileIdentity{Device: 1, Inode: 1}); err != nil {
		t.Fatal(err)
	}
	v, err := w.View(id)
	if err != nil {
		t.Fatal(err)
	}
	w.fail(v.Run.ID)
	told = nil
	if err := w.BeginWorktreeCall(id, ledger.ApplyCall); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Revoke("/repo"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]turn.SessionID{id, ""}, told); diff != "" {
		t.Error(diff)
	}
}
