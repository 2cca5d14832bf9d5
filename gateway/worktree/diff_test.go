package worktree

import (
	"bytes"
	"deckhand/gateway/turn"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// edit changes a worktree in every way that files can change.
func (w *world) edit(tree Tree) {
	w.t.Helper()
	dir := tree.Path
	writeIn(w.t, dir, "a.txt", "one\n2\nthree\nfour\n")
	w.must(os.Remove(filepath.Join(dir, "tool.sh")))
	w.must(os.Chmod(filepath.Join(dir, "src/main.go"), 0o755))
	w.must(os.MkdirAll(filepath.Join(dir, "moved"), 0o755))
	w.must(os.Rename(filepath.Join(dir, "src/deep/x.txt"), filepath.Join(dir, "moved/x.txt")))
	w.must(os.Remove(filepath.Join(dir, "link")))
	w.must(os.Symlink("src", filepath.Join(dir, "link")))
	writeIn(w.t, dir, "new/ünï \"q\"\n.txt", "new\n")
	writeIn(w.t, dir, "new/binary", "a\x00b\xff")
	writeIn(w.t, dir, "new/run.sh", "print 'new'\n")
	w.must(os.Chmod(filepath.Join(dir, "new/run.sh"), 0o755))
	writeIn(w.t, dir, "kept.log", "ignored\n")
	w.must(os.Symlink("/etc/passwd", filepath.Join(dir, "new/out")))
}

var edited = []FileChange{
	{Path: "a.txt", Kind: Modified, Added: 2, Removed: 1},
	{Path: "link", Kind: Modified, Added: 1, Removed: 1},
	{Path: "moved/x.txt", From: "src/deep/x.txt", Kind: Renamed},
	{Path: "new/binary", Kind: Added, Binary: true},
	{Path: "new/out", Kind: Added, Added: 1},
	{Path: "new/run.sh", Kind: Added, Added: 1},
	{Path: "new/ünï \"q\"\n.txt", Kind: Added, Added: 1},
	{Path: "src/main.go", Kind: Modified, Mode: true},
	{Path: "tool.sh", Kind: Deleted, Removed: 2},
}

func TestDiffTellsEveryKindOfChange(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.edit(tree)
	index := readIn(t, tree.Registration, "index")
	var changes Changes
	var err error
	w.untouched(func() { changes, err = w.k.Diff(t.Context(), tree, 1<<20) })
	w.must(err)
	slices.SortFunc(changes.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	if !slices.Equal(changes.Files, edited) {
		t.Errorf("files: %+v", changes.Files)
	}
	for _, want := range []string{"-two\n+2\n", "+four\n", "rename from src/deep/x.txt\nrename to moved/x.txt", "new mode 100755", "deleted file mode 100755"} {
		if !strings.Contains(changes.Diff, want) {
			t.Errorf("the diff does not hold %q:\n%s", want, changes.Diff)
		}
	}
	if changes.Truncated || strings.Contains(changes.Diff, "kept.log") {
		t.Errorf("truncated %t, diff %s", changes.Truncated, changes.Diff)
	}
	if readIn(t, tree.Registration, "index") != index {
		t.Error("the worktree's index was written")
	}
	// What is committed counts as what is not.
	w.gitIn(tree.Path, "add", "-A")
	w.gitIn(tree.Path, "commit", "-qm", "user")
	again, err := w.k.Diff(t.Context(), tree, 1<<20)
	w.must(err)
	if again.Diff != changes.Diff {
		t.Errorf("after a commit:\n%s", again.Diff)
	}
}

func TestDiffIsCutAtAWholeLineAndIsAlwaysText(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "latin1.txt", strings.Repeat("caf\xe9 \xff\n", 5000))
	for _, limit := range []int{1, 100, 1000, 16 << 10, 50_000} {
		changes, err := w.k.Diff(t.Context(), tree, limit)
		w.must(err)
		if len(changes.Diff) > limit || !changes.Truncated || !utf8.ValidString(changes.Diff) || changes.Diff != "" && !strings.HasSuffix(changes.Diff, "\n") {
			t.Errorf("limit %d: %d bytes, truncated %t, ends %.20q", limit, len(changes.Diff), changes.Truncated, changes.Diff[max(0, len(changes.Diff)-20):])
		}
		if len(changes.Files) != 1 || changes.Files[0].Added != 5000 {
			t.Errorf("files: %+v", changes.Files)
		}
	}
	list, err := w.k.Diff(t.Context(), tree, 0)
	if err != nil || list.Diff != "" || list.Truncated || len(list.Files) != 1 {
		t.Errorf("list: %+v %v", list, err)
	}
}

func TestPatchMakesTheSameFilesElsewhere(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.edit(tree)
	var patch bytes.Buffer
	w.must(w.k.Patch(t.Context(), tree, &patch))
	w.gitIn(w.home, "clone", "-q", w.dir, "clone")
	writeIn(t, w.home, "p.patch", patch.String())
	clone := filepath.Join(w.home, "clone")
	w.gitIn(clone, "apply", filepath.Join(w.home, "p.patch"))
	w.must(os.Remove(filepath.Join(tree.Path, "kept.log")))
	sameFiles(t, clone, tree.Path)
}

func TestWhatCannotBeBroughtHomeIsNamed(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	w.gitIn(tree.Path, "init", "-q", "inner")
	writeIn(t, tree.Path, "inner/f", "x\n")
	w.gitIn(filepath.Join(tree.Path, "inner"), "add", "f")
	w.gitIn(filepath.Join(tree.Path, "inner"), "commit", "-qm", "inner")
	// A tracked file becomes a repository.
	w.must(os.Remove(filepath.Join(tree.Path, "a.txt")))
	w.gitIn(tree.Path, "init", "-q", "a.txt")
	w.gitIn(filepath.Join(tree.Path, "a.txt"), "commit", "-q", "--allow-empty", "-m", "odd")
	changes, err := w.k.Diff(t.Context(), tree, 1<<16)
	w.must(err)
	var names []string
	for _, s := range changes.Skipped {
		names = append(names, s.Path)
	}
	slices.Sort(names)
	if !slices.Equal(slices.Compact(names), []string{"a.txt", "inner"}) || strings.Contains(changes.Diff, "Subproject") {
		t.Errorf("skipped %q, diff %s", names, changes.Diff)
	}
	_, err = w.k.Commit(t.Context(), tree, "without them")
	w.must(err)
	if out := w.git("ls-tree", "-r", "deckhand/"+string(tree.Session)); strings.Contains(out, "commit") {
		t.Errorf("committed as a submodule: %s", out)
	}
}

func TestAWorktreeWithoutAnIndexIsStillCompared(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	w.must(os.Remove(filepath.Join(tree.Registration, "index")))
	changes, err := w.k.Diff(t.Context(), tree, 0)
	if err != nil || len(changes.Files) != 1 {
		t.Errorf("%+v %v", changes, err)
	}
	w.must(os.WriteFile(filepath.Join(tree.Registration, "index"), []byte("rubbish"), 0o644))
	_, err = w.k.Diff(t.Context(), tree, 0)
	refused(t, err, turn.GitFailed)
}

// A directory that became a link to a place outside takes its files along:
// what lies there is not ours.
func TestADirectoryThatBecameALinkIsALink(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	outside := filepath.Join(w.home, "outside")
	w.must(os.Rename(filepath.Join(tree.Path, "src"), outside))
	writeIn(t, outside, "main.go", "package outside\n")
	w.must(os.Symlink(outside, filepath.Join(tree.Path, "src")))
	changes, err := w.k.Diff(t.Context(), tree, 1<<16)
	w.must(err)
	if len(changes.Files) != 3 || strings.Contains(changes.Diff, "package outside") {
		t.Errorf("changes: %+v", changes)
	}
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) > 0 {
		t.Errorf("conflicts: %+v", report.Conflicts)
	}
	sameFiles(t, w.dir, tree.Path)
	if readIn(t, outside, "main.go") != "package outside\n" {
		t.Error("a file outside was written")
	}
}
