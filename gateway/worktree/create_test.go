package worktree

import (
	"deckhand/gateway/turn"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAWorktreeHoldsTheCommitAndTheSourceStaysAsItWas(t *testing.T) {
	w := newWorld(t)
	w.write(".env", "SECRET=1\n")
	w.write("ignored/node_modules/x.js", "x\n")
	var tree Tree
	w.untouched(func() { tree = w.create() })
	w.cleanIn(tree.Path)
	for _, name := range []string{".env", "ignored"} {
		if _, err := os.Lstat(filepath.Join(tree.Path, name)); err == nil {
			t.Errorf("the ignored %s was copied", name)
		}
	}
	w.must(os.RemoveAll(w.path(".env")))
	w.must(os.RemoveAll(w.path("ignored")))
	sameFiles(t, w.dir, tree.Path)
	if got := strings.TrimSpace(w.gitIn(tree.Path, "symbolic-ref", "HEAD")); got != "refs/heads/deckhand/"+string(tree.Session) {
		t.Errorf("HEAD is %s", got)
	}
	if info, err := os.Stat(filepath.Dir(tree.Path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of worktrees: %v %v", info.Mode(), err)
	}
	if strings.ContainsAny(tree.Path, " \t\n") {
		t.Errorf("the path %q holds blanks", tree.Path)
	}
	w.must(w.k.Verify(t.Context(), tree))
	list, err := w.k.List(t.Context(), w.dir)
	w.must(err)
	if len(list) != 1 || list[0] != (Listed{Session: tree.Session, Path: tree.Path, Branch: tree.Branch, Head: tree.Commit}) {
		t.Errorf("list: %+v", list)
	}
}

func TestCreateAgainGivesTheSameWorktree(t *testing.T) {
	w := newWorld(t)
	source := w.inspect()
	plan := w.plan(source, newSession())
	first, err := w.k.Create(t.Context(), source, plan)
	w.must(err)
	writeIn(t, first.Path, "new.txt", "work\n")
	writeIn(t, first.Path, "a.txt", "changed\n")
	w.keeper()
	again, err := w.k.Create(t.Context(), source, plan)
	w.must(err)
	if first != again {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if readIn(t, first.Path, "new.txt") != "work\n" || readIn(t, first.Path, "a.txt") != "changed\n" {
		t.Error("work was lost")
	}
}

func TestSessionsMadeAtOnceDoNotMeet(t *testing.T) {
	w := newWorld(t)
	source := w.inspect()
	const n = 4
	trees := make([]Tree, n)
	errs := make([]error, n)
	plans := make([]Plan, n)
	for i := range n {
		plans[i] = w.plan(source, newSession())
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { trees[i], errs[i] = w.k.Create(t.Context(), source, plans[i]) })
		// The same session twice at once is one worktree.
		wg.Go(func() {
			if _, err := w.k.Create(t.Context(), source, plans[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range n {
		w.must(errs[i])
		w.must(w.k.Verify(t.Context(), trees[i]))
		w.cleanIn(trees[i].Path)
	}
	if list, err := w.k.List(t.Context(), w.dir); err != nil || len(list) != n {
		t.Errorf("%d worktrees: %v", len(list), err)
	}
}

func TestCreateAgainRefusesWhatTookThePlaceOfTheWorktree(t *testing.T) {
	w := newWorld(t)
	source := w.inspect()
	plan := w.plan(source, newSession())
	tree, err := w.k.Create(t.Context(), source, plan)
	w.must(err)
	w.write("a.txt", "2\n")
	w.commit("second")
	_, err = w.k.Create(t.Context(), w.inspect(), plan)
	refused(t, err, turn.WorktreeChanged, "another commit")
	w.must(os.Rename(tree.Path, tree.Path+"-x"))
	w.must(os.CopyFS(tree.Path, os.DirFS(tree.Path+"-x")))
	_, err = w.k.Create(t.Context(), source, plan)
	refused(t, err, turn.WorktreeChanged, "another directory")
	w.must(os.RemoveAll(tree.Path))
	_, err = w.k.Create(t.Context(), source, plan)
	refused(t, err, turn.WorktreeChanged, "removed")
}

func TestBenchesOfACrashAreSweptAfterADay(t *testing.T) {
	w := newWorld(t)
	old, young := filepath.Join(w.home, "scratch", "bench-old"), filepath.Join(w.home, "scratch", "bench-young")
	for _, dir := range []string{old, young} {
		writeIn(t, dir, "objects/x", "x")
	}
	long := time.Now().Add(-oldBench - time.Hour)
	w.must(os.Chtimes(old, long, long))
	w.keeper()
	if _, err := os.Lstat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Lstat(young); err != nil {
		t.Error("the young one is gone")
	}
}
