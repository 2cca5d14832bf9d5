package worktree

import (
	"deckhand/gateway/turn"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRemoveLosesNothingUnlessForced(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world, tree Tree)
		word   string
	}{
		"changed":    {func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "2\n") }, "a.txt"},
		"untracked":  {func(w *world, tree Tree) { writeIn(w.t, tree.Path, "new.txt", "2\n") }, "new.txt"},
		"deleted":    {func(w *world, tree Tree) { w.must(os.Remove(filepath.Join(tree.Path, "a.txt"))) }, "a.txt"},
		"ignored":    {func(w *world, tree Tree) { writeIn(w.t, tree.Path, "x.log", "2\n") }, "x.log"},
		"staged":     {func(w *world, tree Tree) { writeIn(w.t, tree.Path, "n", "2\n"); w.gitIn(tree.Path, "add", "n") }, "n"},
		"repository": {func(w *world, tree Tree) { w.gitIn(tree.Path, "init", "-q", "inner") }, "inner"},
		"skip-worktree": {func(w *world, tree Tree) {
			w.gitIn(tree.Path, "update-index", "--skip-worktree", "a.txt")
			writeIn(w.t, tree.Path, "a.txt", "2\n")
		}, "a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tree := w.create()
			c.change(w, tree)
			before := pictureOf(t, tree.Path)
			refused(t, w.k.Remove(t.Context(), tree, false), turn.WorktreeNotClean, c.word)
			if d := before.differences(pictureOf(t, tree.Path)); len(d) > 0 {
				t.Errorf("changed: %q", d)
			}
			w.must(w.k.Remove(t.Context(), tree, true))
			w.removed(tree)
		})
	}
}

// removed checks that nothing but the branch is left.
func (w *world) removed(tree Tree) {
	w.t.Helper()
	for _, path := range []string{tree.Path, tree.Registration} {
		if _, err := os.Lstat(path); err == nil {
			w.t.Errorf("%s is still there", path)
		}
	}
	if at := strings.TrimSpace(w.git("rev-parse", "refs/heads/"+tree.Branch)); at == "" {
		w.t.Error("the branch is gone")
	}
	if out := w.git("worktree", "list", "--porcelain"); strings.Contains(out, tree.Path) {
		w.t.Errorf("still registered: %s", out)
	}
}

func TestRemoveFollowsNoLinkAndLeavesOthersAlone(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(w.home, "outside")
	writeIn(t, outside, "precious.txt", "x")
	// Another worktree whose directory is on a disk that is not there now.
	w.git("worktree", "add", "-q", filepath.Join(w.home, "theirs"))
	w.must(os.Rename(filepath.Join(w.home, "theirs"), filepath.Join(w.home, "away")))
	other := w.create()
	tree := w.create()
	w.must(os.Symlink(outside, filepath.Join(tree.Path, "out")))
	w.must(os.Symlink("../../..", filepath.Join(tree.Path, "src", "up")))
	before := pictureOf(t, w.home)
	w.must(w.k.Remove(t.Context(), tree, true))
	w.removed(tree)
	for _, name := range before.differences(pictureOf(t, w.home)) {
		path := filepath.Join(w.home, name)
		if !within(path, tree.Path) && !within(path, tree.Registration) && !within(path, filepath.Join(w.home, "scratch")) {
			t.Errorf("%s changed", name)
		}
	}
	w.must(w.k.Verify(t.Context(), other))
	if !strings.Contains(w.git("worktree", "list"), "theirs") {
		t.Error("somebody else's worktree was pruned")
	}
}

func TestRemoveLeavesWhatIsNotOursAnyMore(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.must(os.Rename(tree.Path, tree.Path+"-x"))
	writeIn(t, tree.Path, "precious.txt", "x")
	refused(t, w.k.Remove(t.Context(), tree, true), turn.WorktreeChanged, "something else")
	w.must(os.RemoveAll(tree.Path))
	w.must(os.Symlink(w.dir, tree.Path))
	refused(t, w.k.Remove(t.Context(), tree, true), turn.WorktreeChanged, "something else")
	w.must(os.Remove(tree.Path))
	w.must(os.Rename(tree.Path+"-x", tree.Path))
	w.git("worktree", "unlock", tree.Path)
	refused(t, w.k.Remove(t.Context(), tree, true), turn.WorktreeChanged, "lock")
	if readIn(t, w.dir, "a.txt") == "" || readIn(t, tree.Path, "a.txt") == "" {
		t.Error("files are gone")
	}
}

func TestRemoveOfAWorktreeThatIsGoneClearsItsRegistration(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.must(os.RemoveAll(tree.Path))
	w.must(w.k.Remove(t.Context(), tree, false))
	w.removed(tree)
	w.must(w.k.Remove(t.Context(), tree, false))
}

func TestRemoveCompletesWhatACrashInterrupted(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		tree := w.create()
		reached := w.stopAt(n)
		err := w.k.Remove(t.Context(), tree, false)
		if !reached() {
			w.must(err)
			if n < 2 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		if n == 0 {
			// The removal itself was cut short.
			w.must(os.Remove(filepath.Join(tree.Path, ".git")))
			w.must(os.Remove(filepath.Join(tree.Path, "a.txt")))
		}
		w.keeper()
		w.must(w.k.Remove(t.Context(), tree, false))
		w.removed(tree)
	}
}
