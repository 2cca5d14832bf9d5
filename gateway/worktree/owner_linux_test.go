package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deckhand/gateway/ordinary"
	"deckhand/gateway/turn"
)

func TestAnotherUsersRepositoryIsRefused(t *testing.T) {
	w := newWorld(t)
	if os.Geteuid() == 0 {
		w.must(os.Chown(w.path(".git"), ordinary.User, ordinary.User))
	} else {
		w.must(os.Rename(w.path(".git"), w.path("git")))
		w.must(os.Symlink("/usr", w.path(".git")))
	}
	_, err := w.k.Inspect(t.Context(), w.dir)
	refused(t, err, turn.WorkingDirectoryInvalid, "another user")
}

func TestAFileThatCannotBeReadIsNamedAndTheRestGoesOn(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "secret", "x\n")
	w.must(os.Chmod(filepath.Join(tree.Path, "secret"), 0))
	writeIn(t, tree.Path, "a.txt", "2\n")
	changes, err := w.k.Diff(t.Context(), tree, 0)
	w.must(err)
	if os.Geteuid() == 0 {
		if len(changes.Files) != 2 || len(changes.Skipped) != 0 {
			t.Errorf("root reads everything: %+v", changes)
		}
		return
	}
	if len(changes.Files) != 1 || len(changes.Skipped) != 1 || changes.Skipped[0].Path != "secret" {
		t.Errorf("changes: %+v", changes)
	}
	refused(t, w.remove(tree, false), turn.WorktreeNotClean)
}

func TestAFileOfAnotherOwnerStaysTheirs(t *testing.T) {
	w := newWorld(t)
	tree := w.create()
	writeIn(t, tree.Path, "a.txt", "2\n")
	uid := os.Geteuid()
	if uid == 0 {
		uid = ordinary.User
		w.must(os.Chown(w.path("a.txt"), uid, uid))
	}
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	info, err := os.Stat(w.path("a.txt"))
	w.must(err)
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || len(report.Applied) != 1 || readIn(t, w.dir, "a.txt") != "2\n" {
		t.Errorf("owner %d, report %+v", st.Uid, report)
	}
}

// Root runs the main ways once more as an ordinary user, who has other ways to
// fail. An ordinary user has just run them.
func TestTheMainWaysHoldForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("", "ordinary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, temp := filepath.Join(dir, "worktree.test"), filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, temp} {
		if err := os.Chown(path, ordinary.User, ordinary.User); err != nil {
			t.Fatal(err)
		}
	}
	main := []string{"TestAWorktreeHoldsTheCommitAndTheSourceStaysAsItWas", "TestCreateCompletesHalfACheckout", "TestApplyBringsEveryKindOfChangeHome",
		"TestApplyCompletesWhatACrashInterrupted", "TestCommitRecordsTheStateAndLeavesTheSourceAlone", "TestRemoveFollowsNoLinkAndLeavesOthersAlone",
		"TestAnotherUsersRepositoryIsRefused", "TestAFileThatCannotBeReadIsNamedAndTheRestGoesOn", "TestAFileOfAnotherOwnerStaysTheirs"}
	ordinary.Tests{
		Binary: binary, Dir: temp, Env: []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")},
		Args: []string{"-test.run", "^(" + strings.Join(main, "|") + ")$"},
		Must: main,
	}.Run(t)
}
