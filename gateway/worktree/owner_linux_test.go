package worktree

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deckhand/gateway/turn"
)

// ordinaryUser is a user id that no system gives out.
const ordinaryUser = 61500

func TestAnotherUsersRepositoryIsRefused(t *testing.T) {
	w := newWorld(t)
	if os.Geteuid() == 0 {
		w.must(os.Chown(w.path(".git"), ordinaryUser, ordinaryUser))
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
		uid = ordinaryUser
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
	copyProgram(t, "/proc/self/exe", binary)
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, temp} {
		if err := os.Chown(path, ordinaryUser, ordinaryUser); err != nil {
			t.Fatal(err)
		}
	}
	main := []string{"TestAWorktreeHoldsTheCommitAndTheSourceStaysAsItWas", "TestCreateCompletesHalfACheckout", "TestApplyBringsEveryKindOfChangeHome",
		"TestApplyCompletesWhatACrashInterrupted", "TestCommitRecordsTheStateAndLeavesTheSourceAlone", "TestRemoveFollowsNoLinkAndLeavesOthersAlone",
		"TestAnotherUsersRepositoryIsRefused", "TestAFileThatCannotBeReadIsNamedAndTheRestGoesOn", "TestAFileOfAnotherOwnerStaysTheirs"}
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run", "^("+strings.Join(main, "|")+")$")
	cmd.Dir = temp
	cmd.Env = []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range main {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
