package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// stopAt ends a call after the nth step, as a crash would. It reports whether
// the call got that far.
func (w *world) stopAt(n int) (reached func() bool) {
	left := n
	w.k.step = func(string) error {
		if left--; left < 0 {
			return errStopped
		}
		return nil
	}
	return func() bool { return left < 0 }
}

func TestCreateCompletesWhatACrashInterruptedAfterAnyStep(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		source := w.inspect()
		plan := w.plan(source, newSession())
		var done bool
		w.untouched(func() {
			reached := w.stopAt(n)
			_, err := w.k.Create(t.Context(), source, plan)
			if done = !reached(); done {
				w.must(err)
				return
			}
			if !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			w.keeper()
			tree, err := w.k.Create(t.Context(), source, plan)
			w.must(err)
			w.cleanIn(tree.Path)
			sameFiles(t, w.dir, tree.Path)
			w.onlyOne(plan)
		})
		if done {
			if n < 5 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

// onlyOne checks that there is one worktree of ours, one branch and no rest.
func (w *world) onlyOne(plan Plan) {
	w.t.Helper()
	entries, err := os.ReadDir(w.path(".git/worktrees"))
	if err != nil || len(entries) != 1 {
		w.t.Errorf("%d registrations: %v", len(entries), err)
	}
	if branches := strings.Fields(w.git("for-each-ref", "--format=%(refname:short)", "refs/heads/deckhand")); len(branches) != 1 || branches[0] != plan.Branch {
		w.t.Errorf("branches: %q", branches)
	}
	rest, err := filepath.Glob(filepath.Join(w.home, "scratch", "bench-*"))
	if err != nil || len(rest) > 0 {
		w.t.Errorf("left over: %q %v", rest, err)
	}
}

// A git that is killed leaves the files of a registration one by one, in this
// order, and the worktree's own in between.
func TestCreateCompletesWhatAKilledGitLeft(t *testing.T) {
	for cut := range 9 {
		for _, branch := range []bool{true, false} {
			if cut > 0 && !branch {
				continue // The branch comes first.
			}
			w := newWorld(t)
			source := w.inspect()
			plan := w.plan(source, newSession())
			name := filepath.Base(plan.Path)
			registration := ".git/worktrees/" + name
			steps := []func(){
				func() { w.must(os.MkdirAll(w.path(registration), 0o755)) },
				func() { w.write(registration+"/locked", reason(plan.Session)) },
				func() { w.must(os.MkdirAll(plan.Path, 0o700)) },
				func() { w.write(registration+"/gitdir", filepath.Join(plan.Path, ".git")+"\n") },
				func() { writeIn(t, plan.Path, ".git", "") },
				func() { writeIn(t, plan.Path, ".git", "gitdir: "+w.path(registration)+"\n") },
				func() { w.write(registration+"/HEAD", strings.Repeat("0", 40)+"\n") },
				func() { w.write(registration+"/commondir", "../..\n") },
			}
			if branch {
				w.git("branch", plan.Branch)
			}
			w.must(os.MkdirAll(filepath.Dir(plan.Path), 0o700))
			for _, step := range steps[:cut] {
				step()
			}
			tree, err := w.k.Create(t.Context(), source, plan)
			if err != nil {
				t.Fatalf("after %d files, branch %t: %v", cut, branch, err)
			}
			w.cleanIn(tree.Path)
			w.onlyOne(plan)
		}
	}
}

// A checkout that is killed leaves some files whole, one of them cut off, and
// the index locked.
func TestCreateCompletesHalfACheckout(t *testing.T) {
	w := newWorld(t)
	w.write("large.txt", strings.Repeat("a line of text\n", 10_000))
	w.commit("large")
	source := w.inspect()
	plan := w.plan(source, newSession())
	w.stopAt(2)
	if _, err := w.k.Create(t.Context(), source, plan); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	writeIn(t, plan.Path, "a.txt", readIn(t, w.dir, "a.txt"))
	writeIn(t, plan.Path, "large.txt", readIn(t, w.dir, "large.txt")[:70_001])
	writeIn(t, plan.Path, "src/main.go", "")
	w.write(".git/worktrees/"+filepath.Base(plan.Path)+"/index.lock", "half an index")
	w.keeper()
	tree, err := w.k.Create(t.Context(), source, plan)
	w.must(err)
	w.cleanIn(tree.Path)
	sameFiles(t, w.dir, tree.Path)
}

func TestCreateNeverTouchesWhatIsNotOurs(t *testing.T) {
	for name, c := range map[string]struct {
		// before stands there before the first call; between comes while the
		// first call lies interrupted.
		before, between func(w *world, plan Plan)
		code            turn.Code
		words           []string
	}{
		"a folder with a file": {before: func(w *world, plan Plan) { writeIn(w.t, plan.Path, "precious", "x") }, code: turn.WorktreeOccupied},
		"a file":               {before: func(w *world, plan Plan) { writeIn(w.t, filepath.Dir(plan.Path), filepath.Base(plan.Path), "x") }, code: turn.WorktreeOccupied},
		"a link": {before: func(w *world, plan Plan) {
			w.must(os.Symlink(w.dir, plan.Path))
		}, code: turn.WorktreeOccupied},
		"another repository's worktree": {before: func(w *world, plan Plan) {
			writeIn(w.t, plan.Path, ".git", "gitdir: /somewhere/else\n")
		}, code: turn.WorktreeOccupied},
		"a branch that moved": {before: func(w *world, plan Plan) {
			w.git("branch", plan.Branch, w.git("commit-tree", "HEAD^{tree}", "-m", "theirs")[:40])
		}, code: turn.WorktreeOccupied, words: []string{"branch"}},
		"a branch named deckhand":          {before: func(w *world, plan Plan) { w.git("branch", "deckhand") }, code: turn.WorktreeOccupied, words: []string{"rename"}},
		"a file of somebody else":          {between: func(w *world, plan Plan) { writeIn(w.t, plan.Path, "theirs.txt", "x") }, code: turn.WorktreeOccupied, words: []string{"theirs.txt"}},
		"an ignored file of somebody else": {between: func(w *world, plan Plan) { writeIn(w.t, plan.Path, "theirs.log", "x") }, code: turn.WorktreeOccupied, words: []string{"theirs.log"}},
		"a changed file":                   {between: func(w *world, plan Plan) { writeIn(w.t, plan.Path, "a.txt", "theirs\n") }, code: turn.WorktreeOccupied, words: []string{"a.txt"}},
		"a longer file":                    {between: func(w *world, plan Plan) { writeIn(w.t, plan.Path, "a.txt", "one\ntwo\nthree\nfour\n") }, code: turn.WorktreeOccupied, words: []string{"a.txt"}},
		"a commit on the branch": {between: func(w *world, plan Plan) {
			w.git("update-ref", "refs/heads/"+plan.Branch, w.git("commit-tree", "HEAD^{tree}", "-m", "theirs")[:40])
		}, code: turn.WorktreeOccupied, words: []string{"moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			source := w.inspect()
			plan := w.plan(source, newSession())
			w.must(os.MkdirAll(filepath.Dir(plan.Path), 0o700))
			if c.before != nil {
				c.before(w, plan)
			} else {
				w.stopAt(3)
				if _, err := w.k.Create(t.Context(), source, plan); !errors.Is(err, errStopped) {
					t.Fatal(err)
				}
				c.between(w, plan)
				w.keeper()
			}
			before := pictureOf(t, filepath.Dir(plan.Path))
			refs := w.git("for-each-ref")
			_, err := w.k.Create(t.Context(), source, plan)
			refused(t, err, c.code, c.words...)
			for _, name := range before.differences(pictureOf(t, filepath.Dir(plan.Path))) {
				t.Errorf("%s changed", name)
			}
			if now := w.git("for-each-ref"); now != refs {
				t.Errorf("refs: %s, then %s", refs, now)
			}
		})
	}
}

func TestPlansThatCannotBeCarriedOutAreRefused(t *testing.T) {
	w := newWorld(t)
	source := w.inspect()
	good := w.plan(source, newSession())
	for name, spoil := range map[string]func(*Plan){
		"relative":            func(p *Plan) { p.Path = "x" },
		"with blanks":         func(p *Plan) { p.Path = filepath.Join(w.home, "a b", filepath.Base(p.Path)) },
		"not clean":           func(p *Plan) { p.Path = w.home + "/x/../" + filepath.Base(p.Path) },
		"in the source":       func(p *Plan) { p.Path = w.path("src/" + filepath.Base(p.Path)) },
		"without the session": func(p *Plan) { p.Path = filepath.Join(w.home, "other") },
		"other branch":        func(p *Plan) { p.Branch = "main" },
		"odd session":         func(p *Plan) { p.Session = "../../x" },
	} {
		plan := good
		spoil(&plan)
		_, err := w.k.Create(t.Context(), source, plan)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		refused(t, err, turn.InvalidArguments)
	}
	open := filepath.Join(w.home, "open")
	w.must(os.Mkdir(open, 0o777))
	w.must(os.Chmod(open, 0o777))
	plan := PlanFor(open, source, good.Session)
	_, err := w.k.Create(t.Context(), source, plan)
	refused(t, err, turn.InvalidArguments, "other users")
	_, err = w.k.Create(t.Context(), source, good)
	w.must(err)
}

func TestTheUsualPlanHasNoOddCharacters(t *testing.T) {
	for dir, want := range map[string]string{
		"/x/my project": "my-project", "/x/ünï": "n", "/x/.dotfiles": "dotfiles", "/": "repository", "/x/" + strings.Repeat("n", 300): strings.Repeat("n", 60),
	} {
		plan := PlanFor("/r", Source{Dir: dir}, "ses_abcdefgh")
		if plan.Path != fmt.Sprintf("/r/%s-ses_abcdefgh", want) || plan.Branch != "deckhand/ses_abcdefgh" {
			t.Errorf("%s: %+v", dir, plan)
		}
	}
}
