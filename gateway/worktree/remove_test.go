package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deckhand/gateway/turn"
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
			refused(t, w.remove(tree, false), turn.WorktreeNotClean, c.word)
			if d := before.differences(pictureOf(t, tree.Path)); len(d) > 0 {
				t.Errorf("changed: %q", d)
			}
			w.must(w.remove(tree, true))
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
	w.must(w.remove(tree, true))
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
	refused(t, w.remove(tree, true), turn.WorktreeChanged, "something else")
	w.must(os.RemoveAll(tree.Path))
	w.must(os.Symlink(w.dir, tree.Path))
	refused(t, w.remove(tree, true), turn.WorktreeChanged, "something else")
	w.must(os.Remove(tree.Path))
	w.must(os.Rename(tree.Path+"-x", tree.Path))
	w.git("worktree", "unlock", tree.Path)
	refused(t, w.remove(tree, true), turn.WorktreeChanged, "lock")
	if readIn(t, w.dir, "a.txt") == "" || readIn(t, tree.Path, "a.txt") == "" {
		t.Error("files are gone")
	}
}

func TestRemoveOfAWorktreeThatIsGoneClearsItsRegistration(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.must(os.RemoveAll(tree.Path))
	w.must(w.remove(tree, false))
	w.removed(tree)
	refused(t, w.remove(tree, false), turn.WorktreeRemoved)
}

// TestRemoveCompletesWhatACrashInterrupted stops after each step, also between
// the files of the registration. Once the removal is decided on nothing else
// works in the worktree, and completing it needs no force.
func TestRemoveCompletesWhatACrashInterrupted(t *testing.T) {
	w := newWorld(t)
	for _, force := range []bool{false, true} {
		for n := 0; ; n++ {
			tree := w.create()
			if force {
				writeIn(t, tree.Path, "new.txt", "lost\n")
			}
			reached := w.stopAt(n)
			err := w.remove(tree, force)
			if !reached() {
				w.must(err)
				if n < 8 {
					t.Errorf("only %d steps", n)
				}
				w.keeper()
				break
			}
			if !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			w.keeper()
			switch n {
			case 0: // recorded by the owner, and nothing done
				w.must(w.k.Verify(t.Context(), tree))
			case 1: // decided, and the removal itself was cut short
				refused(t, w.k.Verify(t.Context(), tree), turn.WorktreeRemoved, "deckhand worktrees remove "+string(tree.Session))
				_, err := w.k.Diff(t.Context(), tree, 0)
				refused(t, err, turn.WorktreeRemoved)
				w.must(os.Remove(filepath.Join(tree.Path, ".git")))
				w.must(os.Remove(filepath.Join(tree.Path, "a.txt")))
			}
			w.must(w.remove(tree, force && n == 0))
			w.removed(tree)
		}
	}
}

// TestARemovalThatIsRefusedAgainAfterACrashIsTakenBack changes the worktree
// after a crash between the owner's record and the decision.
func TestARemovalThatIsRefusedAgainAfterACrashIsTakenBack(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.stopAt(0)
	if err := w.remove(tree, false); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	writeIn(t, tree.Path, "a.txt", "work\n")
	w.keeper()
	refused(t, w.remove(tree, false), turn.WorktreeNotClean, "a.txt")
	if state := w.books[tree.Session].state; state != kept {
		t.Errorf("the owner was left with %q", state)
	}
	w.must(w.k.Verify(t.Context(), tree))
}

// TestOfTwoRemovalsAtOnceOneIsDone lets them meet, many times, with one that
// insists and one that does not.
func TestOfTwoRemovalsAtOnceOneIsDone(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		tree := w.create()
		writeIn(t, tree.Path, "new.txt", "x")
		w.book(tree.Session)
		errs := make([]error, 3)
		var calls sync.WaitGroup
		for i := range errs {
			calls.Go(func() { errs[i] = w.remove(tree, i > 0) })
		}
		calls.Wait()
		done := 0
		for i, err := range errs {
			switch refusal, _ := errors.AsType[*turn.Refusal](err); {
			case err == nil:
				done++
			case refusal == nil || refusal.Code != turn.WorktreeRemoved && (i > 0 || refusal.Code != turn.WorktreeNotClean):
				t.Errorf("removal %d: %v", i, err)
			}
		}
		if done != 1 {
			t.Errorf("%d removals were done: %v", done, errs)
		}
		w.removed(tree)
	}
}

// TestRemoveTouchesNoOtherRegistration puts a link in the place of it.
func TestRemoveTouchesNoOtherRegistration(t *testing.T) {
	w := newWorld(t)
	other, tree := w.create(), w.create()
	w.must(os.RemoveAll(tree.Path))
	w.must(os.RemoveAll(tree.Registration))
	w.must(os.Symlink(filepath.Base(other.Registration), tree.Registration))
	refused(t, w.remove(tree, true), turn.WorktreeChanged)
	w.must(w.k.Verify(t.Context(), other))
	// Also if what the link leads to looks like a removal that was begun.
	w.must(os.WriteFile(filepath.Join(other.Registration, removing), []byte(tree.Session+"\n"), 0o600))
	refused(t, w.remove(tree, true), turn.WorktreeChanged, "something else")
	w.must(os.Remove(filepath.Join(other.Registration, removing)))
	w.must(w.k.Verify(t.Context(), other))
}

// book is what an owner records of a removal. It fails the test if it is told
// what cannot be.
type book struct {
	t     *testing.T
	mu    sync.Mutex
	state string // guarded by mu
}

const (
	kept    = "kept"
	retired = "retired"
	removed = "removed"
)

func (b *book) move(to string, from ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(from, b.state) {
		b.t.Errorf("from %q to %q", b.state, to)
	}
	b.state = to
	return nil
}

func (b *book) Retire() error {
	b.mu.Lock()
	done := b.state == removed
	b.mu.Unlock()
	if done {
		return turn.Refuse(turn.WorktreeRemoved, "it was removed")
	}
	return b.move(retired, "", kept, retired)
}

func (b *book) Keep(error) error { return b.move(kept, retired) }
func (b *book) Removed() error   { return b.move(removed, retired) }

// book returns what the owner of a session's worktree has recorded.
func (w *world) book(id turn.SessionID) *book {
	if w.books[id] == nil {
		w.books[id] = &book{t: w.t}
	}
	return w.books[id]
}

// remove removes a worktree as its owner would.
func (w *world) remove(tree Tree, force bool) error {
	b := w.book(tree.Session)
	err := w.k.Remove(w.t.Context(), tree, force, b)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.state != removed {
		w.t.Errorf("after the removal it is %q", b.state)
	}
	return err
}
