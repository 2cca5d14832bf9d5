package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// The suites of this file drive an installed Claude Code through one whole job
// of each profile. "make test-installed" and its kin run them by name.

// chain is a small project on which every tool has something to do.
type chain struct {
	t   *testing.T
	dir string
}

func newChain(t *testing.T, dir string) chain {
	t.Helper()
	c := chain{t, dir}
	c.put("total.sh", "#!/bin/sh\n# Adds what stands in prices.txt.\nsum=0\nwhile read -r n; do sum=$((sum - n)); done < prices.txt\necho \"$sum\"\n", 0o755)
	c.put("prices.txt", "3\n4\n", 0o644)
	c.put("notes.ipynb", `{"cells": [{"cell_type": "code", "id": "sum", "metadata": {}, "source": ["3 + 4"], "outputs": [], "execution_count": null}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`+"\n", 0o644)
	return c
}

func (c chain) put(name, text string, mode os.FileMode) {
	c.t.Helper()
	must(c.t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode))
}

// run takes a session through Read, Edit, Write, NotebookEdit, RunCommand,
// another run of the same Claude Code session, and Read.
func (c chain) run(s *fakechatgpt.Session) {
	t := c.t
	t.Helper()
	ok := func(r chatgpt.Result, parts ...string) {
		t.Helper()
		if r.Outcome != "ok" {
			t.Fatalf("%s: %s %s", r.Name, r.Receipt.Code, r.Text)
		}
		for _, part := range parts {
			if !strings.Contains(r.Text, part) {
				t.Errorf("%s does not say %q:\n%s", r.Name, part, r.Text)
			}
		}
	}
	ok(s.One("Read", map[string]any{"file_path": "total.sh"}), "sum - n")
	ok(s.Do(run("./total.sh")).Results[0], "Exit status 0", "\n-7")
	ok(s.One("Edit", map[string]any{"file_path": "total.sh", "old_string": "sum - n", "new_string": "sum + n"}))
	ok(s.One("Write", map[string]any{"file_path": "test/check.sh", "content": "#!/bin/sh\n[ \"$(./total.sh)\" = 12 ] && echo passed && touch result.txt\n"}))
	ok(s.One("Write", map[string]any{"file_path": "prices.txt", "content": "3\n4\n5\n"}))
	ok(s.One("NotebookEdit", map[string]any{"notebook_path": "notes.ipynb", "cell_id": "sum", "new_source": "3 + 4 + 5"}))
	// The command sees what was written, and writes nothing there itself.
	ok(s.Do(run("sh", "test/check.sh")).Results[0], "Exit status 1", "passed", "a write was refused: "+filepath.Join(snapshotOf(t, s.Last).Workspace.Root, "result.txt"))
	before := *snapshotOf(t, s.Last).ClaudeSessionID
	s.Say("first part done")
	if _, err := s.Continue(t.Context(), "Look at it once more."); err != nil {
		t.Fatal(err)
	}
	ok(s.One("Read", map[string]any{"file_path": "notes.ipynb"}), "3 + 4 + 5")
	snap := snapshotOf(t, s.Last)
	if *snap.ClaudeSessionID != before || snap.CurrentRun.Number != 2 {
		t.Errorf("the second run is number %d of Claude Code's session %s, was %s", snap.CurrentRun.Number, *snap.ClaudeSessionID, before)
	}
	if ended := s.Say("done"); ended.LastResult.Outcome != "completed" {
		t.Errorf("the run: %s", fakechatgpt.Describe(ended))
	}
}

// holds checks what the chain leaves.
func (c chain) holds(dir string, changed bool) {
	t := c.t
	t.Helper()
	script, prices, made := "sum - n", "3\n4\n", false
	if changed {
		script, prices, made = "sum + n", "3\n4\n5\n", true
	}
	if got := content(t, filepath.Join(dir, "total.sh")); !strings.Contains(got, script) {
		t.Errorf("total.sh in %s is %q", dir, got)
	}
	if got := content(t, filepath.Join(dir, "prices.txt")); got != prices {
		t.Errorf("prices.txt in %s is %q", dir, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "test", "check.sh")); made != (err == nil) {
		t.Errorf("test/check.sh in %s: %v", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "result.txt")); !os.IsNotExist(err) {
		t.Errorf("the command wrote into %s: %v", dir, err)
	}
	var notebook struct {
		Cells []struct{ Source any }
	}
	must(t, json.Unmarshal([]byte(content(t, filepath.Join(dir, "notes.ipynb"))), &notebook))
	if len(notebook.Cells) != 1 {
		t.Errorf("the notebook in %s has %d cells", dir, len(notebook.Cells))
	}
}

// TestInstalledDirectWrite changes real files in a real folder.
func TestInstalledDirectWrite(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify"))
	c := newChain(t, t.TempDir())
	c.run(g.Chat().Start(chatgpt.Start{WorkingDirectory: c.dir, Profile: "direct_write"}))
	c.holds(c.dir, true)
}

// TestInstalledWrite works in a worktree and leaves the source as it was.
func TestInstalledWrite(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	source := filepath.Join(t.TempDir(), "project")
	must(t, os.Mkdir(source, 0o755))
	c := newChain(t, source)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", source, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	before := git("status", "--porcelain", "-b") + git("rev-parse", "HEAD", "HEAD^{tree}")
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: source, Profile: "worktree_write"})
	s.Turn()
	root := snapshotOf(t, s.Last).Workspace.Root
	c.run(s)
	c.holds(root, true)
	c.holds(source, false)
	if after := git("status", "--porcelain", "-b") + git("rev-parse", "HEAD", "HEAD^{tree}"); after != before {
		t.Errorf("the source changed from %q to %q", before, after)
	}
	if _, err := s.Continue(t.Context(), "What does git say?"); err != nil {
		t.Fatal(err)
	}
	if r := s.Do(run("git", "status", "--porcelain")).Results[0]; !strings.Contains(r.Text, "Exit status 0") || !strings.Contains(r.Text, " M total.sh\n") || !strings.Contains(r.Text, "?? test/") {
		t.Errorf("git status in the worktree: %s", r.Text)
	}
	s.Say("done")
}

// TestInstalledRead looks for something below / and is taken up by another
// conversation, and by another gateway, in the same Claude Code session.
func TestInstalledRead(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	dir := t.TempDir()
	needle := "needle-" + filepath.Base(filepath.Dir(dir))
	must(t, os.WriteFile(filepath.Join(dir, "hay.txt"), []byte("one\n"+needle+"\n"), 0o600))
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: "/"})
	if r := s.One("FindFiles", map[string]any{"directory": dir, "pattern": "*.txt"}); r.Outcome != "ok" || !strings.Contains(r.Text, "hay.txt") {
		t.Fatalf("FindFiles: %s", r.Text)
	}
	if r := s.One("SearchText", map[string]any{"directory": dir, "text": needle}); r.Outcome != "ok" || !strings.Contains(r.Text, "hay.txt") {
		t.Fatalf("SearchText: %s", r.Text)
	}
	claude := g.ClaudeCode()
	g.Crash()
	g.Again()
	s = g.Chat().Join(s.ID, "", s.Token)
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := g.ClaudeCode(); now != claude {
		t.Errorf("Claude Code is another process: %+v, was %+v", now, claude)
	}
	if r := s.One("Read", map[string]any{"file_path": filepath.Join(dir, "hay.txt")}); r.Outcome != "ok" || !strings.Contains(r.Text, needle) {
		t.Fatalf("Read: %s", r.Text)
	}
	grep := fakechatgpt.Call("RunCommand", map[string]any{"argv": []string{"grep", "-c", needle, "hay.txt"}, "cwd": dir})
	if r := s.Do(grep).Results[0]; r.Outcome != "ok" || !strings.Contains(r.Text, "Exit status 0") {
		t.Errorf("RunCommand: %s", r.Text)
	}
	if ended := s.Say("done"); ended.LastResult.Outcome != "completed" {
		t.Errorf("the run: %s", fakechatgpt.Describe(ended))
	}
}
