package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

func TestCommitRecordsTheStateAndLeavesTheSourceAlone(t *testing.T) {
	w := newWorld(t)
	w.git("config", "--global", "user.name", "Ünï User")
	w.git("config", "--global", "user.email", "me@example.com")
	tree := w.create()
	w.edit(tree)
	var commit OID
	w.untouched(func() {
		var err error
		commit, err = w.k.Commit(t.Context(), tree, "  what was done\n\nand why  ")
		w.must(err)
	})
	w.cleanIn(tree.Path)
	if got := w.gitIn(tree.Path, "log", "-1", "--format=%H %an %ae %cn|%B|%P"); got != string(commit)+" Ünï User me@example.com Ünï User|what was done\n\nand why\n|"+string(tree.Commit)+"\n" {
		t.Errorf("the commit: %q", got)
	}
	w.gitIn(w.home, "clone", "-q", "-b", tree.Branch, w.dir, "clone")
	w.must(os.Remove(filepath.Join(tree.Path, "kept.log")))
	sameFiles(t, filepath.Join(w.home, "clone"), tree.Path)
	_, err := w.k.Commit(t.Context(), tree, "again")
	refused(t, err, turn.NothingToCommit)
	w.must(w.k.Verify(t.Context(), tree))
	w.must(w.remove(tree, false))
}

func TestCommitCompletesWhatACrashInterrupted(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		tree := w.create()
		w.edit(tree)
		reached := w.stopAt(n)
		_, err := w.k.Commit(t.Context(), tree, "work")
		if !reached() {
			w.must(err)
			if n < 3 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		w.keeper()
		if _, err := w.k.Commit(t.Context(), tree, "work"); err != nil {
			refused(t, err, turn.NothingToCommit)
		}
		w.cleanIn(tree.Path)
		if out := w.git("rev-list", "--count", string(tree.Commit)+".."+tree.Branch); out != "1\n" {
			t.Errorf("%s commits after step %d", out, n)
		}
		entries, err := filepath.Glob(filepath.Join(tree.Registration, "*index*"))
		if err != nil || len(entries) != 1 {
			t.Errorf("left over: %q %v", entries, err)
		}
	}
}

func TestCommitYieldsToTheUsersGit(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	writeIn(t, tree.Registration, "index.lock", "")
	_, err := w.k.Commit(t.Context(), tree, "work")
	refused(t, err, turn.WorktreeBusy)
	w.must(os.Remove(filepath.Join(tree.Registration, "index.lock")))
	// The user commits while we do.
	w.k.step = func(name string) error {
		if name == "committed" {
			w.gitIn(tree.Path, "commit", "-q", "--allow-empty", "-m", "user")
		}
		return nil
	}
	_, err = w.k.Commit(t.Context(), tree, "work")
	refused(t, err, turn.WorktreeChanged, "moved")
	w.keeper()
	_, err = w.k.Commit(t.Context(), tree, "work")
	w.must(err)
	w.cleanIn(tree.Path)
}

func TestCommitTakesOnlyText(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	for _, message := range []string{"", " \n ", "a\x00b", "\xff", strings.Repeat("x", maxMessage+1)} {
		_, err := w.k.Commit(t.Context(), tree, message)
		refused(t, err, turn.InvalidArguments)
	}
}
