package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"deckhand/gateway/turn"
)

// What users and programs do to a worktree behind our back, and what Verify
// says of it. Commits on the branch are the user's right.
func TestVerifyNoticesWhatHappenedBehindOurBack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world, tree Tree)
		code   turn.Code
		words  string
	}{
		"removed":  {func(w *world, tree Tree) { w.must(os.RemoveAll(tree.Path)) }, turn.WorktreeChanged, "removed or moved"},
		"moved":    {func(w *world, tree Tree) { w.git("worktree", "move", "-f", "-f", tree.Path, tree.Path+"-x") }, turn.WorktreeChanged, "removed or moved"},
		"unlocked": {func(w *world, tree Tree) { w.git("worktree", "unlock", tree.Path) }, turn.WorktreeChanged, "lock"},
		"relocked": {func(w *world, tree Tree) {
			w.git("worktree", "unlock", tree.Path)
			w.git("worktree", "lock", tree.Path)
		}, turn.WorktreeChanged, "lock"},
		"replaced by a link": {func(w *world, tree Tree) {
			w.must(os.Rename(tree.Path, tree.Path+"-x"))
			w.must(os.Symlink(tree.Path+"-x", tree.Path))
		}, turn.WorktreeChanged, "path"},
		"replaced by a copy": {func(w *world, tree Tree) {
			w.must(os.Rename(tree.Path, tree.Path+"-x"))
			w.must(os.CopyFS(tree.Path, os.DirFS(tree.Path+"-x")))
		}, turn.WorktreeChanged, "another directory"},
		"unregistered":       {func(w *world, tree Tree) { w.must(os.RemoveAll(tree.Registration)) }, turn.WorktreeChanged, "does not know"},
		"pointing elsewhere": {func(w *world, tree Tree) { writeIn(w.t, tree.Path, ".git", "gitdir: "+w.path(".git")+"\n") }, turn.WorktreeChanged, ".git file"},
		"on another branch":  {func(w *world, tree Tree) { w.gitIn(tree.Path, "checkout", "-q", "-b", "theirs") }, turn.WorktreeChanged, "theirs"},
		"detached":           {func(w *world, tree Tree) { w.gitIn(tree.Path, "checkout", "-q", "--detach") }, turn.WorktreeChanged, "no branch"},
		"branch moved": {func(w *world, tree Tree) {
			w.git("update-ref", "refs/heads/"+tree.Branch, w.git("commit-tree", "HEAD^{tree}", "-m", "theirs")[:40])
		}, turn.WorktreeChanged, "moved"},
		"branch deleted": {func(w *world, tree Tree) { w.git("update-ref", "-d", "refs/heads/"+tree.Branch) }, turn.WorktreeChanged, "branch is gone"},
		"committed by the user": {func(w *world, tree Tree) {
			writeIn(w.t, tree.Path, "a.txt", "user\n")
			w.gitIn(tree.Path, "commit", "-qam", "user")
		}, "", ""},
		"source moved on": {func(w *world, tree Tree) {
			w.write("a.txt", "2\n")
			w.commit("second")
		}, "", ""},
		"pruned and collected": {func(w *world, tree Tree) {
			w.git("worktree", "prune")
			w.git("gc", "-q", "--prune=now")
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tree := w.create()
			c.change(w, tree)
			err := w.k.Verify(t.Context(), tree)
			if c.code == "" {
				w.must(err)
				return
			}
			refused(t, err, c.code, c.words)
			if name == "removed" {
				list, err := w.k.List(t.Context(), w.dir)
				if err != nil || len(list) != 1 || !list[0].Missing {
					t.Errorf("list: %+v %v", list, err)
				}
			}
		})
	}
}

func TestListKnowsOnlyOurs(t *testing.T) {
	w := newWorld(t)
	w.git("worktree", "add", "-q", "--lock", "--reason", "Deckhand session theirs", filepath.Join(w.home, "theirs"))
	w.git("worktree", "add", "-q", "-b", "broken", filepath.Join(w.home, "line\nbreak"))
	tree := w.create()
	list, err := w.k.List(t.Context(), w.dir)
	w.must(err)
	if len(list) != 1 || list[0].Session != tree.Session {
		t.Errorf("list: %+v", list)
	}
}
