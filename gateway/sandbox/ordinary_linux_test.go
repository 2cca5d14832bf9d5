package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ordinaryUser is a user id that no system gives out.
const ordinaryUser = 61500

// Root runs every other test once more as an ordinary user, who has other
// ways out and other ways to fail. An ordinary user has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := dirOutsideTmp(t)
	binary := filepath.Join(dir, "sandbox.test")
	copyProgram(t, "/proc/self/exe", binary)
	temp := filepath.Join(dir, "tmp")
	mkdirs(t, temp)
	for path, owner := range map[string]int{dir: 0, temp: ordinaryUser} {
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The binary of Claude Code may be where only root can read it, and the
	// files of the macOS profiles are not here; who asks makes no difference.
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.skip", "Ordinary|Claude|Seatbelt")
	cmd.Dir = temp
	cmd.Env = []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"TestSelfTestPassesHere", "TestNothingRunsUnconfined", "TestDeniedSystemCallsAnswerEPERM"} {
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
