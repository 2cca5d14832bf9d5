package worktree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// conflicts gives the paths of a report's conflicts.
func (r Report) conflicts() []string {
	var names []string
	for _, c := range r.Conflicts {
		names = append(names, c.Path)
	}
	slices.Sort(names)
	return names
}

func TestApplyBringsEveryKindOfChangeHome(t *testing.T) {
	w := newWorld(t)
	w.write(".env", "SECRET=1\n")
	w.must(os.Chmod(w.path("a.txt"), 0o640))
	tree := w.create()
	w.edit(tree)
	w.settled()
	index, head := readIn(t, w.dir, ".git/index"), w.git("rev-parse", "HEAD")
	var dry Report
	var err error
	w.untouched(func() { dry, err = w.k.Apply(t.Context(), tree, true) })
	w.must(err)
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) > 0 || len(report.Applied) != 10 || !slices.Equal(dry.Applied, report.Applied) && len(dry.Applied) != 10 {
		t.Errorf("report %+v, dry %+v", report, dry)
	}
	if readIn(t, w.dir, ".git/index") != index || w.git("rev-parse", "HEAD") != head {
		t.Error("index or HEAD changed")
	}
	if info, err := os.Stat(w.path("a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode of a.txt: %v %v", info.Mode(), err)
	}
	if readIn(t, w.dir, ".env") != "SECRET=1\n" {
		t.Error(".env changed")
	}
	if _, err := os.Lstat(w.path("src/deep")); err == nil {
		t.Error("an empty directory is left")
	}
	w.must(os.Remove(w.path(".env")))
	w.must(os.Remove(filepath.Join(tree.Path, "kept.log")))
	sameFiles(t, w.dir, tree.Path)

	// Again it finds everything done.
	again, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(again.Applied) != 0 || len(again.Already) != 10 || len(again.Conflicts) != 0 {
		t.Errorf("again: %+v", again)
	}
	// And after the user committed it, nothing is left to do.
	w.commit("applied")
	if again, err = w.k.Apply(t.Context(), tree, false); err != nil || len(again.Applied)+len(again.Already)+len(again.Conflicts) != 0 {
		t.Errorf("after a commit: %+v %v", again, err)
	}
}

func TestApplyMergesWithWhatTheSourceDidSince(t *testing.T) {
	w := newWorld(t)
	w.write("long.txt", lines(0, "line 0"))
	w.commit("long")
	tree := w.create()
	writeIn(t, tree.Path, "long.txt", lines(3, "from the worktree"))
	writeIn(t, tree.Path, "new.txt", "new\n")
	// The source renames the file and changes another line of it.
	w.must(os.Rename(w.path("long.txt"), w.path("renamed.txt")))
	w.write("renamed.txt", lines(15, "from the source"))
	w.write("other.txt", "other\n")
	w.commit("moved on")
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) > 0 || len(report.Applied) != 2 {
		t.Errorf("report: %+v", report)
	}
	if got := readIn(t, w.dir, "renamed.txt"); !strings.Contains(got, "from the worktree") || !strings.Contains(got, "from the source") {
		t.Errorf("merged to %s", got)
	}
}

func TestApplyWritesNothingIfThereIsAnyConflict(t *testing.T) {
	for name, c := range map[string]struct {
		// work is done in the worktree, meanwhile in the source.
		work, meanwhile func(w *world, tree Tree)
		path, reason    string
	}{
		"same line": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "one\n2\nthree\n") },
			meanwhile: func(w *world, tree Tree) { w.write("a.txt", "one\nII\nthree\n"); w.commit("other") },
			path:      "a.txt", reason: "same lines"},
		"deleted there": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "one\n2\nthree\n") },
			meanwhile: func(w *world, tree Tree) { w.git("rm", "-q", "a.txt"); w.commit("other") },
			path:      "a.txt", reason: "deleted"},
		"added in both": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "n.txt", "1\n") },
			meanwhile: func(w *world, tree Tree) { w.write("n.txt", "2\n"); w.commit("other") },
			path:      "n.txt"},
		"binary": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "\x001") },
			meanwhile: func(w *world, tree Tree) { w.write("a.txt", "\x002"); w.commit("other") },
			path:      "a.txt", reason: "binary"},
		"an ignored file in the way": {
			work: func(w *world, tree Tree) {
				writeIn(w.t, tree.Path, "x.log", "1\n")
				w.gitIn(tree.Path, "add", "-f", "x.log")
			},
			meanwhile: func(w *world, tree Tree) { w.write("x.log", "precious\n") },
			path:      "x.log", reason: "already"},
		"an ignored folder in the way": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "ignored", "1\n") },
			meanwhile: func(w *world, tree Tree) { w.write("ignored/x", "precious\n") },
			path:      "ignored", reason: "already"},
		"an ignored link on the way": {
			work: func(w *world, tree Tree) {
				writeIn(w.t, tree.Path, "ignored/f", "1\n")
				w.gitIn(tree.Path, "add", "-f", "ignored/f")
			},
			meanwhile: func(w *world, tree Tree) {
				w.must(os.Mkdir(filepath.Join(w.home, "outside"), 0o755))
				w.must(os.Symlink(filepath.Join(w.home, "outside"), w.path("ignored")))
				w.write(".git/info/exclude", "ignored\n")
			},
			path: "ignored/f", reason: "symbolic link"},
		"hard link": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "2\n") },
			meanwhile: func(w *world, tree Tree) { w.must(os.Link(w.path("a.txt"), filepath.Join(w.home, "second name"))) },
			path:      "a.txt", reason: "more than one name"},
		"read-only": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "2\n") },
			meanwhile: func(w *world, tree Tree) { w.must(os.Chmod(w.path("a.txt"), 0o444)) },
			path:      "a.txt", reason: "read-only"},
		"protected name": {
			work:      func(w *world, tree Tree) { writeIn(w.t, tree.Path, "sub/.ENV.local", "2\n") },
			meanwhile: func(w *world, tree Tree) {},
			path:      "sub/.ENV.local", reason: "protected"},
		"other line ends, which Git calls clean": {
			work: func(w *world, tree Tree) { writeIn(w.t, tree.Path, "a.txt", "2\n") },
			meanwhile: func(w *world, tree Tree) {
				w.git("config", "core.autocrlf", "input")
				w.write("a.txt", "one\r\ntwo\r\nthree\r\n")
				w.git("add", "a.txt")
			},
			path: "a.txt", reason: "line ends"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tree := w.create()
			c.work(w, tree)
			// Work without a conflict stays undone, too.
			writeIn(t, tree.Path, "good.txt", "good\n")
			c.meanwhile(w, tree)
			w.untouched(func() {
				for _, dryRun := range []bool{true, false} {
					report, err := w.k.Apply(t.Context(), tree, dryRun)
					w.must(err)
					if !slices.Equal(report.conflicts(), []string{c.path}) || !strings.Contains(report.Conflicts[0].Reason, c.reason) || len(report.Applied) > 0 {
						t.Errorf("report: %+v", report)
					}
				}
			})
			if out, _ := os.ReadDir(filepath.Join(w.home, "outside")); len(out) > 0 {
				t.Error("something was written outside")
			}
		})
	}
}

func TestApplyNeedsACleanSource(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	w.write("src/main.go", "changed\n")
	w.untouched(func() {
		_, err := w.k.Apply(t.Context(), tree, false)
		refused(t, err, turn.RepositoryNotClean, "src/main.go")
	})
	w.git("checkout", "-q", ".")
	w.write("untracked", "x")
	_, err := w.k.Apply(t.Context(), tree, false)
	refused(t, err, turn.RepositoryNotClean, "untracked")
}

func TestApplyHandlesFilesThatBecomeDirectoriesAndBack(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.must(os.Remove(filepath.Join(tree.Path, "a.txt")))
	writeIn(t, tree.Path, "a.txt/inside/f", "x\n")
	w.must(os.RemoveAll(filepath.Join(tree.Path, "src")))
	writeIn(t, tree.Path, "src", "a file now\n")
	w.must(os.Remove(filepath.Join(tree.Path, "link")))
	writeIn(t, tree.Path, "link", "a file now\n")
	w.must(os.Remove(filepath.Join(tree.Path, "tool.sh")))
	w.must(os.Symlink("link", filepath.Join(tree.Path, "tool.sh")))
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) > 0 {
		t.Errorf("conflicts: %+v", report.Conflicts)
	}
	sameFiles(t, w.dir, tree.Path)
}

// Line ends that Git would normalise on the way through its storage arrive as
// they were written.
func TestApplyKeepsTheBytesThatWereWritten(t *testing.T) {
	w := newWorld(t)
	w.write(".gitattributes", "* text=auto\n")
	w.commit("attributes")
	tree := w.create()
	bytes := map[string]string{
		"new.bat": "@echo off\r\necho x\r\n", "mixed.txt": "a\r\nb\nc\r\n", "a.txt": "ONE\r\ntwo\nthree\n", "no-end.txt": "x", "bom.txt": "\ufeffx\n",
	}
	for name, text := range bytes {
		writeIn(t, tree.Path, name, text)
	}
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	for name, text := range bytes {
		if got := readIn(t, w.dir, name); got != text {
			t.Errorf("%s: %q and not %q; %+v", name, got, text, report)
		}
	}
}

func TestApplyCompletesWhatACrashInterrupted(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		tree := w.create()
		writeIn(t, tree.Path, "a.txt", "2\n")
		writeIn(t, tree.Path, "new/deep/n.txt", "n\n")
		w.must(os.Remove(filepath.Join(tree.Path, "src/deep/x.txt")))
		reached := w.stopAt(n)
		_, err := w.k.Apply(t.Context(), tree, false)
		if done := !reached(); !done {
			if !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			// Half of a next file is there, too.
			w.write("src/.deckhand-"+string(tree.Session)+"-abc", "half")
			w.keeper()
			report, err := w.k.Apply(t.Context(), tree, false)
			w.must(err)
			if len(report.Conflicts) > 0 {
				t.Errorf("conflicts: %+v", report.Conflicts)
			}
		} else {
			w.must(err)
			if n < 4 {
				t.Errorf("only %d steps", n)
			}
		}
		sameFiles(t, w.dir, tree.Path)
		if !reached() {
			return
		}
	}
}

// A file that changes between the comparison and its turn takes back what was
// written before it.
func TestApplyTakesBackWhatItWroteIfAFileChangesMeanwhile(t *testing.T) {
	for _, victim := range []string{"src/main.go", "new/run.sh", "tool.sh", "link"} {
		w := newWorld(t)
		w.must(os.Chmod(w.path("a.txt"), 0o640))
		tree := w.create()
		w.edit(tree)
		w.settled()
		before := filesOf(t, w.dir)
		steps := 0
		w.k.step = func(name string) error {
			if steps++; steps == 1 {
				w.must(os.MkdirAll(filepath.Dir(w.path(victim)), 0o755))
				if _, err := os.Lstat(w.path(victim)); err == nil {
					w.must(os.Remove(w.path(victim)))
				}
				w.write(victim, "the user's\n")
			}
			return nil
		}
		report, err := w.k.Apply(t.Context(), tree, false)
		if victim == "tool.sh" {
			// It was the first one, and gone already: now it is a new file of
			// the user's, which nobody asked about.
			w.must(err)
		} else if w.must(err); !slices.Equal(report.conflicts(), []string{victim}) || len(report.Applied) > 0 {
			t.Errorf("%s: %+v", victim, report)
		}
		if got := readIn(t, w.dir, victim); got != "the user's\n" {
			t.Errorf("%s: the user's file holds %q", victim, got)
		}
		if victim == "tool.sh" {
			continue
		}
		after := filesOf(t, w.dir)
		delete(before, victim)
		delete(after, victim)
		for name := range after {
			if before[name] != after[name] {
				t.Errorf("%s: %s was not taken back: %q", victim, name, after[name])
			}
		}
		if len(before) != len(after) {
			t.Errorf("%s: %d files before, %d after", victim, len(before), len(after))
		}
		if info, err := os.Stat(w.path("a.txt")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode of a.txt: %v %v", info.Mode(), err)
		}
	}
}

func TestApplyStopsIfTheSourceMovesOnMeanwhile(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	w.k.step = func(name string) error {
		if name == "compared" {
			w.git("commit", "-q", "--allow-empty", "-m", "meanwhile")
		}
		return nil
	}
	_, err := w.k.Apply(t.Context(), tree, false)
	refused(t, err, turn.RepositoryNotClean, "meanwhile")
}

func TestApplyTakesBackWhatItWroteIfItFails(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.edit(tree)
	w.settled()
	before := filesOf(t, w.dir)
	steps := 0
	w.k.step = func(string) error {
		if steps++; steps == 8 {
			return fs.ErrInvalid
		}
		return nil
	}
	report, err := w.k.Apply(t.Context(), tree, false)
	refused(t, err, turn.IOError, "nothing was changed")
	after := filesOf(t, w.dir)
	if len(report.Applied) > 0 || !maps.Equal(before, after) {
		t.Errorf("report %+v, before %q, after %q", report, before, after)
	}
	if out := w.git("status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
}
