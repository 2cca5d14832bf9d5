package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway/crash"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// snapshotOf reads an answer in full, for what the client's own types leave out.
func snapshotOf(t *testing.T, a *chatgpt.Answer) session.Snapshot {
	t.Helper()
	var s session.Snapshot
	must(t, json.Unmarshal(a.Raw, &s))
	return s
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// TestDirectWriteChangesTheRealFilesAndCanBeTakenBack drives the real Claude
// Code through every write tool in a real directory, after a person allowed it.
func TestDirectWriteChangesTheRealFilesAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.txt")
	must(t, os.WriteFile(kept, []byte("one\r\ntwo\nthree\r\n"), 0o640))

	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write", WaitSeconds: 1})
	if s.Last.Status != "awaiting_approval" {
		t.Fatalf("without a person's word: %s", fakechatgpt.Describe(s.Last))
	}
	pending := snapshotOf(t, s.Last)
	_, err := g.Admin().Approve(t.Context(), turn.SessionID(s.ID), pending.Approval.Generation)
	must(t, err)
	s.Turn()

	edited := s.One("Edit", map[string]any{"file_path": "kept.txt", "old_string": "two", "new_string": "2"})
	made := s.One("Write", map[string]any{"file_path": "new/deep/made.txt", "content": "hello\n"})
	for _, r := range []chatgpt.Result{edited, made} {
		if r.Outcome != "ok" {
			t.Fatalf("%s: %s %s", r.Name, r.Receipt.Code, r.Text)
		}
	}
	if got := content(t, kept); got != "one\r\n2\nthree\r\n" {
		t.Errorf("the edited file is %q", got)
	}
	for name, args := range map[string]map[string]any{
		"outside":   {"file_path": "/tmp/deckhand-outside.txt", "content": "x"},
		"dots":      {"file_path": "../outside.txt", "content": "x"},
		"git":       {"file_path": ".git/config", "content": "x"},
		"protected": {"file_path": ".env", "content": "x"},
	} {
		answer, err := s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{fakechatgpt.Call("Write", args)}})
		if err == nil && answer.Turn.Results[0].Outcome == "ok" {
			t.Errorf("%s: it was written", name)
		}
	}
	ended := snapshotOf(t, s.Say("done"))
	changes := ended.LastResult.Changes
	if changes == nil || len(changes.Files) != 2 || changes.Files[0].Path != "kept.txt" || changes.Files[0].Added != 1 ||
		changes.Files[0].Removed != 1 || changes.Files[1].Path != "new/deep/made.txt" || !strings.Contains(changes.Diff, "+hello") {
		t.Errorf("the changes: %+v", changes)
	}

	report, err := g.Admin().UndoSession(t.Context(), turn.SessionID(s.ID), false)
	must(t, err)
	if len(report.Undone) != 2 || len(report.Conflicts) != 0 {
		t.Errorf("the undo: %+v", report)
	}
	if got := content(t, kept); got != "one\r\ntwo\nthree\r\n" {
		t.Errorf("after the undo the file is %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("the folders that the write made are still there: %v", err)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}

	// The folder is trusted from now on.
	again := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write"})
	if again.Last.Status == "awaiting_approval" {
		t.Error("a folder that was allowed once is asked for again")
	}
	again.Turn()
}

// TestADeniedSessionNeverRuns refuses a session, which then stays refused.
func TestADeniedSessionNeverRuns(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir(), Profile: "direct_write", WaitSeconds: 1})
	_, err := g.Admin().Deny(t.Context(), turn.SessionID(s.ID), snapshotOf(t, s.Last).Approval.Generation)
	must(t, err)
	answer, err := s.Status(t.Context(), 0)
	must(t, err)
	if answer.Status != "stopped" || answer.Terminal == nil || answer.Terminal.Code != "approval_denied" {
		t.Errorf("after the no: %s", fakechatgpt.Describe(answer))
	}
	if _, err := s.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), "approval_denied") {
		t.Errorf("a recover of it: %v", err)
	}
	if runs := g.Processes(); len(runs) != 1 {
		t.Errorf("beside the gateway there runs something: %+v", runs)
	}
}

// TestAWriteRootIsNeverTooBroad refuses what a session must not own.
func TestAWriteRootIsNeverTooBroad(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	chat := g.Chat()
	for _, dir := range []string{"/", "/etc", "/usr", g.Home, "/tmp"} {
		if _, err := chat.Client.Start(t.Context(), chatgpt.Start{Prompt: "write", WorkingDirectory: dir, Profile: "direct_write", IdempotencyKey: chatgpt.Key()}); err == nil {
			t.Errorf("%s: it was taken as a write root", dir)
		} else if !strings.Contains(err.Error(), "write_root_too_broad") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestWorktreeWriteLeavesTheSourceAlone works in a worktree over a crash, of a
// repository that would run programs if one let it, and brings the work home
// only when a person asks for it. Until then every file of the source and of its
// Git directory is what it was, but for what worktrees add there.
func TestWorktreeWriteLeavesTheSourceAlone(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	source := filepath.Join(t.TempDir(), "project")
	marker := filepath.Join(t.TempDir(), "marker")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org",
			"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "filter.trap.smudge=cat"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	must(t, os.MkdirAll(source, 0o755))
	git("init", "-q", "-b", "main")
	for name, text := range map[string]string{"a.txt": "one\n", ".gitignore": ".env\n", ".gitattributes": "*.bin filter=trap\n", "x.bin": "stored\n"} {
		must(t, os.WriteFile(filepath.Join(source, name), []byte(text), 0o644))
	}
	git("add", ".")
	git("commit", "-q", "-m", "first")
	must(t, os.WriteFile(filepath.Join(source, ".env"), []byte("SECRET=1\n"), 0o600))
	trap := filepath.Join(t.TempDir(), "trap.sh")
	must(t, os.WriteFile(trap, []byte("#!/bin/sh\n: >'"+marker+"'\ncat\n"), 0o755))
	must(t, os.MkdirAll(filepath.Join(source, ".git/hooks"), 0o755))
	must(t, os.Symlink(trap, filepath.Join(source, ".git/hooks/post-checkout")))
	git("config", "core.fsmonitor", trap)
	git("config", "filter.trap.smudge", trap)
	status := func() string { return git("status", "--porcelain", "-b") + git("rev-parse", "HEAD", "HEAD^{tree}") }
	before, files := status(), treeOf(t, source)

	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: source, Profile: "worktree_write"})
	s.Turn()
	workspace := snapshotOf(t, s.Last).Workspace
	if workspace.Kind != "worktree" || workspace.Root == source || !strings.HasPrefix(workspace.Branch, "deckhand/") {
		t.Fatalf("the workspace: %+v", workspace)
	}
	if r := s.One("Write", map[string]any{"file_path": "a.txt", "content": "two\n"}); r.Outcome != "ok" {
		t.Fatalf("the write: %s", r.Text)
	}
	g.Crash()
	g.Again()
	s = g.Chat().Join(s.ID, "", s.Token)
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Say("done")
	if got := content(t, filepath.Join(workspace.Root, "a.txt")); got != "two\n" {
		t.Errorf("the worktree's file is %q", got)
	}
	if _, err := os.Lstat(filepath.Join(workspace.Root, ".env")); err == nil {
		t.Error("the ignored .env is in the worktree")
	}
	if after := status(); after != before {
		t.Errorf("the source changed from %q to %q", before, after)
	}
	now := treeOf(t, source)
	for name, text := range files {
		if now[name] != text {
			t.Errorf("%s of the source was %q and is %q", name, text, now[name])
		}
	}
	for name := range now {
		if _, was := files[name]; !was && !strings.HasPrefix(name, "/.git/worktrees") && !strings.HasPrefix(name, "/.git/objects/") &&
			!strings.HasPrefix(name, "/.git/refs/heads/deckhand") {
			t.Errorf("the source has %s now", name)
		}
	}

	_, err := g.Run(t.Context(), "worktrees", "apply", s.ID)
	must(t, err)
	if got := content(t, filepath.Join(source, "a.txt")); got != "two\n" {
		t.Errorf("after apply the source's file is %q", got)
	}
	_, err = g.Run(t.Context(), "worktrees", "remove", s.ID, "--force")
	must(t, err)
	if _, err := s.Continue(t.Context(), "Go on."); chatgpt.CodeOf(err) != "worktree_removed" || !strings.Contains(err.Error(), workspace.Branch) {
		t.Errorf("without its worktree the session goes on with: %v", err)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("something that the repository names was run")
	}
	if _, err := exec.Command("git", "-C", source, "status").Output(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(marker); err != nil {
		t.Error("the user's git does not run it either: the test shows nothing")
	}
}

// TestAWriteThatACrashInterruptsHappensOnce kills the gateway at each point of
// a write. The next gateway finds out what happened; the edit, which could not
// be applied twice, is there once, with one receipt, and Claude Code never saw
// an error.
func TestAWriteThatACrashInterruptsHappensOnce(t *testing.T) {
	for _, point := range crash.WritePoints() {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			g := rig.Start(t, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify"), rig.CrashingAt(t, point))
			dir := t.TempDir()
			path := filepath.Join(dir, "a.txt")
			must(t, os.WriteFile(path, []byte("a\n"), 0o600))
			s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write"})
			s.Turn()
			// The gateway dies during this call or soon after.
			_, _ = s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{
				fakechatgpt.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "a", "new_string": "aa"})}})
			g.AgainPlain()
			s = g.Chat().Join(s.ID, "", s.Token)
			if _, err := s.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			results := s.Turn().Results
			if len(results) != 1 || results[0].Outcome != "ok" {
				t.Fatalf("the edit brought %+v", results)
			}
			if got := content(t, path); got != "aa\n" {
				t.Errorf("the file is %q", got)
			}
			finished := 0
			for _, e := range g.Events(s.ID) {
				if e.Kind == "action.finished" {
					finished++
				}
			}
			if finished != 1 {
				t.Errorf("%d receipts", finished)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("beside the file there is %v, %v", left, err)
			}
			s.Say("done")
			if said := g.ClaudeTranscript(); said.ErrorResults != 0 {
				t.Errorf("Claude Code saw %d errors", said.ErrorResults)
			}
		})
	}
}

// TestAWriteThatNobodyCanTellEndsTheSession changes the file while the gateway
// is dead in the middle of a write. The next gateway starts, repeats nothing,
// leaves the file alone and says what it found.
func TestAWriteThatNobodyCanTellEndsTheSession(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify"), rig.CrashingAt(t, crash.AfterPrepare))
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	must(t, os.WriteFile(path, []byte("a\n"), 0o600))
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write"})
	s.Turn()
	// The gateway dies during this call or soon after.
	_, _ = s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{
		fakechatgpt.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "a", "new_string": "aa"})}})
	rig.Await(t, "the gateway to kill itself", func() bool { return !g.Running() })
	must(t, os.WriteFile(path, []byte("somebody else's\n"), 0o600))
	g.AgainPlain()
	s = g.Chat().Join(s.ID, s.Lease, s.Token)
	rig.Await(t, "the session to be stopped", func() bool {
		answer, err := s.Status(t.Context(), 0)
		must(t, err)
		return answer.Status == "stopped"
	})
	stop := snapshotOf(t, s.Last).StopRequest
	if stop == nil || stop.By != "gateway" || !strings.Contains(stop.Reason, path) {
		t.Errorf("the stop: %+v", stop)
	}
	if got := content(t, path); got != "somebody else's\n" {
		t.Errorf("the file is %q", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("beside the file there is %v, %v", left, err)
	}
}
