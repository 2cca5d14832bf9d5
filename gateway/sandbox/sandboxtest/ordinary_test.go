package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ordinaryUser is a user id that no system gives out.
const ordinaryUser = 61500

// Root makes every attempt once more as an ordinary user, who has other ways
// out and other ways to fail. An ordinary user has just made them.
func TestNoAttemptOfAnOrdinaryUserGetsOut(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	home := base(t, "")
	if err := os.Chown(home, ordinaryUser, ordinaryUser); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(home, "sandboxtest.test")
	copyProgram(t, self(), binary)
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.skip", "Ordinary")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"TestNoAttemptGetsOut", "TestTheSameAttemptsSucceedWithoutASandbox"} {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
}
