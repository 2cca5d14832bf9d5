package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/admin"
	"deckhand/gateway/ledger"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// serveReal runs the real gateway over what is in the state directory.
func (w *world) serveReal(t *testing.T) {
	t.Helper()
	w.env = append(w.env, "DECKHAND_CLAUDE="+realClaude(t), "DECKHAND_LISTEN=127.0.0.1:0", "DECKHAND_CONNECTOR_LISTEN=127.0.0.1:0")
	ctx, stop := context.WithCancel(context.Background())
	out := &lines{got: make(chan string, 20)}
	done := make(chan result, 1)
	go func() { done <- w.runIn(ctx, out, "serve", "--allow-root") }()
	t.Cleanup(func() {
		stop()
		if r := <-done; r.code != exitOK {
			t.Errorf("serve ended with %+v", r)
		}
	})
	select {
	case <-out.got:
	case r := <-done:
		done <- r
		t.Fatalf("serve ended at once: %+v", r)
	}
}

// ways are the two in which a command reaches the sessions.
func ways(t *testing.T, with func(t *testing.T, p *past, start func() *world)) {
	for name, served := range map[string]bool{"a running gateway": true, "no gateway": false} {
		t.Run(name, func(t *testing.T) {
			p := newPast(t)
			with(t, p, func() *world {
				w := p.ends()
				if served {
					w.serveReal(t)
				}
				return w
			})
		})
	}
}

// says fails unless a call prints all of want and ends with code.
func (w *world) says(code int, args []string, want ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.code != code {
		w.t.Errorf("deckhand %s: %+v, want exit code %d", strings.Join(args, " "), r, code)
	}
	for _, text := range want {
		if !strings.Contains(r.out+r.err, text) {
			w.t.Errorf("deckhand %s: %q is not in\n%s%s", strings.Join(args, " "), text, r.out, r.err)
		}
	}
	return r
}

func (w *world) holds(path, want string) {
	w.t.Helper()
	got, err := os.ReadFile(path)
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		w.t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

func TestUndoTakesBackWhatASessionWroteAndLeavesWhatOthersChanged(t *testing.T) {
	ways(t, func(t *testing.T, p *past, start func() *world) {
		dir := p.folder("shop", "a.txt", "one\r\ntwo\r\n")
		id := string(p.direct("shop", dir, write{"a.txt", "1\r\n"}, write{"b.txt", "b\n"}, write{"new/deep/c.txt", "c\n"}, write{"a.txt", "2\r\n"}))
		a, b, c := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt"), filepath.Join(dir, "new/deep/c.txt")
		w := start()
		var shown shownSession
		if err := json.Unmarshal([]byte(w.says(exitOK, []string{"show", id, "--json"}).out), &shown); err != nil || len(shown.Writes) != 4 {
			t.Fatalf("show --json has %d writes, %v", len(shown.Writes), err)
		}
		w.says(exitOK, []string{"show", id}, "Writes, newest first", "new/deep/c.txt  (new)", "deckhand undo "+id)

		w.says(exitOK, []string{"undo", id, "--dry-run"}, "4 writes would be undone")
		w.holds(a, "2\r\n")
		w.holds(c, "c\n")

		newest := string(shown.Writes[0].ActionID)
		w.says(exitOK, []string{"undo", newest[:12]}, "1 write undone", a[len(w.home):])
		w.holds(a, "1\r\n")
		w.says(exitFailed, []string{"undo", newest}, "was undone already")
		w.says(exitOK, []string{"show", id}, "Write a.txt  (undone)")

		if err := os.WriteFile(b, []byte("mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := w.says(exitFailed, []string{"undo", id}, "2 writes undone, 1 left as it is", "b.txt has changed since")
		if r.err != "" {
			t.Errorf("undo also says %q", r.err)
		}
		w.holds(a, "one\r\ntwo\r\n")
		w.holds(b, "mine\n")
		if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folders that the session made are left: %v", err)
		}
		w.says(exitFailed, []string{"undo", "act_nothing"}, "no write is called", "nothing_to_undo")
		w.says(exitFailed, []string{"undo", "zzzz"}, "unknown_session")
		w.says(exitOK, []string{"log", id}, "undo.begun")
	})
}

func TestAWorktreeIsLookedAtBroughtHomeCommittedAndRemoved(t *testing.T) {
	ways(t, func(t *testing.T, p *past, start func() *world) {
		source := p.repository("shop", "a.txt", "one\ntwo\nthree\n")
		direct := string(p.direct("other", p.folder("other", "x", "x"), write{"x", "y"}))
		session, tree := p.worktree("prices", source, write{"a.txt", "one\n2\nthree\n"}, write{"new/b.txt", "b\n"})
		id := string(session)
		w := start()
		w.says(exitOK, []string{"worktrees"}, "prices", "2 files +2 -1", "~/src/shop", "~/.deckhand/worktrees/shop-"+id)
		w.says(exitOK, []string{"worktrees", "list", "--json"}, `"files": 2`, `"branch": "deckhand/`+id, `"base_commit": "`+string(tree.Commit))
		w.says(exitOK, []string{"worktrees", "diff", id}, "+1 -1 a.txt", "-two\n+2\n", "new/b.txt  (added)")
		w.says(exitOK, []string{"show", id}, "deckhand worktrees apply "+id, "branch      deckhand/"+id)

		clone := filepath.Join(w.home, "clone")
		w.git(w.home, "clone", "-q", source, clone)
		patch := filepath.Join(w.home, "p.patch")
		if err := os.WriteFile(patch, []byte(w.says(exitOK, []string{"worktrees", "patch", id}).out), 0o600); err != nil {
			t.Fatal(err)
		}
		w.git(clone, "apply", patch)
		w.holds(filepath.Join(clone, "new/b.txt"), "b\n")

		w.says(exitOK, []string{"worktrees", "apply", id, "--dry-run"}, "2 files would be changed in ~/src/shop")
		w.holds(filepath.Join(source, "a.txt"), "one\ntwo\nthree\n")
		w.says(exitOK, []string{"worktrees", "apply", id}, "2 files changed in ~/src/shop")
		w.holds(filepath.Join(source, "a.txt"), "one\n2\nthree\n")
		w.holds(filepath.Join(source, "new/b.txt"), "b\n")
		w.says(exitOK, []string{"worktrees", "apply", id}, "~/src/shop holds all of it already")

		w.git(source, "checkout", "-q", "--", "a.txt")
		if err := os.RemoveAll(filepath.Join(source, "new")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, "a.txt"), []byte("one\nzwei\nthree\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.says(exitFailed, []string{"worktrees", "apply", id}, "repository_not_clean")
		w.git(source, "commit", "-q", "-a", "-m", "second")
		w.says(exitFailed, []string{"worktrees", "apply", id}, "1 conflict, so nothing was changed", "✗ a.txt")
		w.holds(filepath.Join(source, "new/b.txt"), "")

		w.says(exitFailed, []string{"worktrees", "remove", id}, "worktree_not_clean", "--force")
		made := w.says(exitOK, []string{"worktrees", "commit", id, "-m", "prices: round up"}, "deckhand/"+id)
		if got := w.git(source, "log", "-1", "--format=%s%n%H", "deckhand/"+id); !strings.HasPrefix(got, "prices: round up\n") ||
			!strings.HasPrefix(made.out, strings.Fields(got)[3]) {
			t.Errorf("the branch's commit is %q, commit printed %q", got, made.out)
		}
		w.says(exitFailed, []string{"worktrees", "commit", id, "-m", "again"}, "nothing_to_commit")
		w.says(exitOK, []string{"worktrees", "remove", id}, "removed ~/.deckhand/worktrees/shop-"+id, "stays")
		if _, err := os.Stat(tree.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the worktree is still there: %v", err)
		}
		w.git(source, "rev-parse", "--verify", "-q", "deckhand/"+id)
		w.says(exitOK, []string{"worktrees"}, "No session has a worktree")
		w.says(exitFailed, []string{"worktrees", "apply", id}, "was removed")
		w.says(exitFailed, []string{"worktrees", "remove", id}, "was removed", "worktree_removed")
		w.says(exitFailed, []string{"undo", id}, "was removed", "worktree_removed")
		var listed sessionList
		if err := json.Unmarshal([]byte(w.run("sessions", "--json").out), &listed); err != nil {
			t.Fatal(err)
		}
		for _, s := range listed.Sessions {
			if inTree := string(s.SessionID) == id; s.Undoable == inTree || inTree && s.SourceDirectory != source {
				t.Errorf("in the list: %+v", s)
			}
		}
		w.says(exitOK, []string{"show", id}, "shop-"+id+"  (removed)", "its worktree was removed", `{"content":"b\n","file_path":"new/b.txt"}`)
		w.says(exitFailed, []string{"worktrees", "diff", direct}, "has no worktree", "no_worktree")
		w.says(exitOK, []string{"log", id}, "user    worktree.apply_begun\n", "user    worktree.applied  ok · 2 files\n",
			"worktree.apply_refused  error · apply_conflict\n", "worktree.apply_refused  error · repository_not_clean\n",
			"worktree.commit_begun\n", "worktree.committed  ok · "+strings.Fields(made.out)[0], "worktree.commit_refused  error · nothing_to_commit\n",
			"worktree.removing\n", "gateway worktree.kept  worktree_not_clean\n", "user    worktree.removed\n")
		if out := w.run("log", id, "--json").out; strings.Contains(out, "prices") || strings.Contains(out, "a.txt") {
			t.Errorf("the log holds contents:\n%s", out)
		}
		w.says(exitFailed, []string{"worktrees", "remove", "nobody", "--force"}, "unknown_session")
	})
}

func TestAWorktreeThatCannotBeReadIsListedWithTheReason(t *testing.T) {
	ways(t, func(t *testing.T, p *past, start func() *world) {
		_, tree := p.worktree("prices", p.repository("shop", "a.txt", "one\n"), write{"a.txt", "2\n"})
		p.must(os.Rename(tree.Path, tree.Path+"-moved"))
		w := start()
		w.says(exitOK, []string{"worktrees"}, "▲ the worktree was removed or moved away")
		var list []session.Worktree
		if err := json.Unmarshal([]byte(w.run("worktrees", "--json").out), &list); err != nil || len(list) != 1 || list[0].Problem == "" {
			t.Errorf("worktrees --json: %+v, %v", list, err)
		}
	})
}

// TestARemovalThatACrashInterruptedIsListedAndCompleted is of a command that
// was killed after its first step.
func TestARemovalThatACrashInterruptedIsListedAndCompleted(t *testing.T) {
	ways(t, func(t *testing.T, p *past, start func() *world) {
		session, tree := p.worktree("prices", p.repository("shop", "a.txt", "one\n"), write{"a.txt", "2\n"})
		p.must(p.ledger.RetireWorktree(session))
		id := string(session)
		w := start()
		w.says(exitOK, []string{"worktrees"}, "▲ its removal was begun; if it was interrupted, remove it again")
		w.says(exitOK, []string{"worktrees", "--json"}, `"removing": true`)
		w.says(exitFailed, []string{"worktrees", "diff", id}, "is being removed", "deckhand worktrees remove "+id)
		w.says(exitFailed, []string{"worktrees", "remove", id}, "worktree_not_clean")
		w.says(exitOK, []string{"worktrees", "diff", id}, "+1 -1 a.txt")
		w.says(exitOK, []string{"worktrees", "remove", id, "--force"}, "removed")
		if _, err := os.Stat(tree.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the worktree is still there: %v", err)
		}
		w.says(exitOK, []string{"worktrees"}, "No session has a worktree")
	})
}

func TestTrustIsListedAndTakenBack(t *testing.T) {
	ways(t, func(t *testing.T, p *past, start func() *world) {
		shop, gone := p.folder("shop", "x", "x"), p.folder("gone", "x", "x")
		for _, folder := range []string{shop, gone, p.folder("third", "x", "x")} {
			e := p.begins("trusted", turn.DirectWrite, folder, ledger.WorkspaceRecord{Kind: "direct", Root: folder}, turn.NewSessionID(), time.Minute)
			e, err := p.ledger.Approve(e.Session.ID, e.Session.Approval.Generation, true, time.Hour, 8)
			p.must(err)
			_, err = p.ledger.EndRun(e.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.LaunchFailed})
			p.must(err)
		}
		p.must(os.RemoveAll(gone))
		p.must(os.Symlink(shop, filepath.Join(p.home, "link")))
		w := start()
		w.says(exitOK, []string{"trust"}, "~/src/shop   writes in the folder", "~/src/gone", "~/src/third")
		var trusts []session.Trust
		if err := json.Unmarshal([]byte(w.run("trust", "list", "--json").out), &trusts); err != nil || len(trusts) != 3 || trusts[1].Folder != shop {
			t.Errorf("trust --json: %+v, %v", trusts, err)
		}
		w.says(exitOK, []string{"__complete", "trust", "revoke", ""}, gone+"\n"+shop+"\n")
		for _, args := range [][]string{{"trust", "revoke"}, {"trust", "revoke", "a", "b"}, {"trust", "revoke", shop, "--all"}} {
			w.says(exitUsage, args, "takes one folder, or --all")
		}
		w.says(exitFailed, []string{"trust", "revoke", filepath.Dir(shop)}, "is not a trusted folder", "not_trusted", "deckhand trust lists")
		t.Chdir(w.home)
		w.says(exitOK, []string{"trust", "revoke", "./link"}, "no longer trusted: ~/src/shop")
		w.says(exitFailed, []string{"trust", "revoke", shop}, "not_trusted")
		w.says(exitOK, []string{"trust", "revoke", gone + "/"}, "no longer trusted: ~/src/gone")
		w.says(exitOK, []string{"trust", "revoke", "--all", "--json"}, `"folder": "`, "src/third")
		w.says(exitOK, []string{"trust", "revoke", "--all"}, "No folder was trusted")
		w.says(exitOK, []string{"trust"}, "No folder is trusted")
		w.says(exitOK, []string{"log"}, "user    trust.given  direct_write · "+shop, "-             user    trust.revoked  direct_write · "+shop)
	})
}

// TestNothingIsTakenFromUnderARun allows a session that waits, which then runs
// the real Claude Code, and tries what could lose its work.
func TestNothingIsTakenFromUnderARun(t *testing.T) {
	p := newPast(t)
	source := p.repository("shop", "a.txt", "one\n")
	e, _, plan := p.planned("prices", source, 10*time.Minute)
	other, _, _ := p.planned("others", source, 10*time.Minute)
	id, no := string(e.Session.ID), string(other.Session.ID)
	w := p.ends()
	w.serveReal(t)
	w.says(exitOK, []string{"sessions"}, "asks to write in a worktree of ~/src/shop: deckhand approve ")
	w.says(exitUsage, []string{"approve"}, "write for prices", "write for others", "2 sessions wait")
	w.says(exitOK, []string{"deny", no}, "stopped")
	w.says(exitFailed, []string{"approve", no}, "approval_not_pending")
	w.says(exitFailed, []string{"worktrees", "remove", id, "--force"}, "has not been made yet")
	w.says(exitOK, []string{"approve"}, id, "it asked to write in a worktree of ~/src/shop")
	t.Cleanup(func() { w.run("stop", id) })
	w.happened(id, "worktree.made")
	for _, args := range [][]string{{"worktrees", "apply", id}, {"worktrees", "commit", id, "-m", "m"},
		{"worktrees", "remove", id}, {"worktrees", "remove", id, "--force"}} {
		w.says(exitFailed, args, "run_active", "deckhand stop "+id)
	}
	w.says(exitOK, []string{"worktrees", "apply", id, "--dry-run"}, "Nothing has changed")
	w.happened(id, "turn.opened")
	w.says(exitFailed, []string{"worktrees", "remove", id, "--force"}, "run_active")
	w.says(exitOK, []string{"stop", id}, "stopped")
	w.says(exitOK, []string{"worktrees", "remove", id}, "removed")
	if _, err := os.Stat(plan.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the worktree is still there: %v", err)
	}
}

// happened waits for an event of a session.
func (w *world) happened(id, kind string) {
	w.t.Helper()
	client, err := admin.NewClient(w.state)
	if err != nil {
		w.t.Fatal(err)
	}
	for after := uint64(0); ; {
		events, next, err := client.NextEvents(w.t.Context(), after, turn.SessionID(id))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == kind {
				return
			}
			if e.Kind == "run.ended" || e.To == turn.Failed {
				w.t.Fatalf("the session came to %s (%s) before %s", e.Kind, e.Code, kind)
			}
		}
		after = next
	}
}

func TestWithoutAGatewayNobodyIsAllowedOrRefused(t *testing.T) {
	p := newPast(t)
	e, _, _ := p.planned("prices", p.repository("shop", "a.txt", "one\n"), 10*time.Minute)
	w := p.ends()
	for _, args := range [][]string{{"approve"}, {"deny", string(e.Session.ID)}} {
		w.says(exitNotRunning, args, "no gateway is running", "1 session waits", "deckhand serve")
	}
	w.says(exitOK, []string{"show", string(e.Session.ID)}, "write for prices")
}

// TestACommandWithoutAGatewayStartsNoRun leaves a run that was recorded and
// never begun to the next gateway. There is no sandbox here, so that whoever
// tried to begin it would fail, and the ledger would say so.
func TestACommandWithoutAGatewayStartsNoRun(t *testing.T) {
	p := newPast(t)
	id := string(p.direct("shop", p.folder("shop", "a.txt", "one\n"), write{"a.txt", "2\n"}))
	dir := p.folder("other", "x", "x")
	e := p.begins("waits", turn.ReadOnly, dir, ledger.WorkspaceRecord{}, turn.NewSessionID(), 0)
	w := p.ends()
	w.env = append(w.env, "DECKHAND_BUBBLEWRAP=/nowhere/bwrap")
	for range 10 {
		w.says(exitOK, []string{"undo", id, "--dry-run"}, "1 write would be undone")
	}
	w.says(exitOK, []string{"undo", id}, "1 write undone")
	w.says(exitOK, []string{"show", string(e.Session.ID)}, "starting Claude Code")
}

// TestACommandAndAGatewayExcludeEachOther opens what a command holds.
func TestACommandAndAGatewayExcludeEachOther(t *testing.T) {
	w := newPast(t).ends()
	s, err := inputs{env: environment(w.env)}.load()
	if err != nil {
		t.Fatal(err)
	}
	a := &app{stdio: Stdio{Out: os.Stdout, Err: os.Stderr}, env: environment(w.env), now: time.Now}
	_, done, err := a.takeHands(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "DECKHAND_LISTEN=127.0.0.1:0", "DECKHAND_CONNECTOR_LISTEN=127.0.0.1:0")
	for _, args := range [][]string{{"worktrees"}, {"serve", "--allow-root"}} {
		w.says(exitFailed, args, "another Deckhand uses this state directory")
	}
	if err := done(); err != nil {
		t.Fatal(err)
	}
	w.says(exitOK, []string{"worktrees"}, "No session has a worktree")
}
