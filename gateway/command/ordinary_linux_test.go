package command

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

// Root runs every other test that starts something once more as an ordinary user. An ordinary user
// has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := ground(t)
	must(t, os.Chmod(dir, 0o755))
	binary, temp := filepath.Join(dir, "command.test"), filepath.Join(dir, "tmp")
	in, err := os.Open("/proc/self/exe")
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(binary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
	must(t, os.Mkdir(temp, 0o700))
	must(t, os.Chown(temp, ordinaryUser, ordinaryUser))
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.short", "-test.skip", "Ordinary|Fuzz|Count|Memory|Explained|Named|Remedy|Receipt")
	cmd.Dir = temp
	cmd.Env = []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, name := range []string{"TestACommandGetsExactlyItsArguments", "TestTheLoginShellTellsItsVariables"} {
		if !strings.Contains(string(said), "--- PASS: "+name) {
			t.Errorf("%s did not run:\n%s", name, said)
		}
	}
}
