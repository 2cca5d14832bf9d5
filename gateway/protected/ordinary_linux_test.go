package protected

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ordinaryUser is a user id that no system gives out.
const ordinaryUser = 61500

// TestEverythingHoldsForAnOrdinaryUserToo runs every other test once more as
// somebody whom the system keeps from things. An ordinary user has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := realPrefix(t.TempDir())
	binary, temp := filepath.Join(dir, "protected.test"), filepath.Join(dir, "tmp")
	copyProgram(t, "/proc/self/exe", binary)
	mkdir(t, temp)
	if err := os.Chown(temp, ordinaryUser, ordinaryUser); err != nil {
		t.Fatal(err)
	}
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.skip", "Ordinary")
	cmd.Dir = temp
	cmd.Env = []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"TestScreenLeavesOutWhatTheSystemKeepsAnyway", "TestWhatScreenNamesCanBeHidden", "TestABindMountIsNoWayAround"} {
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

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) }) // or TempDir cannot remove it
}

// TestScreenLeavesOutWhatTheSystemKeepsAnyway asks as whoever runs the tests:
// root may read everything, nobody else may.
func TestScreenLeavesOutWhatTheSystemKeepsAnyway(t *testing.T) {
	home, p := machine(t, "linux")
	list, err := p.Screen()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/etc/shadow", "/root"} {
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		if hidden := slices.Contains(list, path); hidden != (os.Getuid() == 0) {
			t.Errorf("%s is in the list: %v", path, hidden)
		}
		e, err := p.Explain(path)
		if want := map[bool]Sight{true: Unseen, false: Denied}[os.Getuid() == 0]; err != nil || e.Commands != want || e.Read {
			t.Errorf("%s: %+v, %v", path, e, err)
		}
	}
	// What the user shut is the user's to open again, also while a command runs.
	write(t, home+"/.ssh/id", "")
	write(t, home+"/.netrc", "")
	chmod(t, home+"/.ssh", 0)
	chmod(t, home+"/.netrc", 0)
	if list, err = p.Screen(); err != nil || !slices.Contains(list, home+"/.ssh") || !slices.Contains(list, home+"/.netrc") {
		t.Errorf("%q, %v", list, err)
	}
	// A folder that can be passed and not listed, as homes often are.
	write(t, home+"/work/.env", "")
	write(t, home+"/work/.env.local", "")
	chmod(t, home+"/work", 0o311)
	if list, err = p.Screen(home + "/work"); err != nil || !slices.Contains(list, home+"/work/.env") || !slices.Contains(list, home+"/work/.env.local") {
		t.Errorf("%q, %v", list, err)
	}
}
