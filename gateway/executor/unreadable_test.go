package executor

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"deckhand/gateway/turn"
)

// TestWhatTheSystemRefusesIsSaid needs a user for whom the system refuses
// something. As root it runs itself once more as nobody; the binary is passed
// as an open file, because its folder is root's own.
func TestWhatTheSystemRefusesIsSaid(t *testing.T) {
	if os.Geteuid() == 0 {
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		defer self.Close()
		tmp := t.TempDir()
		for _, dir := range []string{tmp, tmp + "/.."} {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.ExtraFiles = []*os.File{self}
		cmd.Dir, cmd.Env = "/", []string{"TMPDIR=" + tmp}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Fatalf("as nobody: %v\n%s", err, out)
		}
		return
	}
	f := newFixture(t)
	f.write("work/closed/in", "needle\n")
	f.write("work/file", "needle\n")
	f.write("work/open/f", "needle\n")
	for _, path := range []string{"work/closed", "work/file"} {
		if err := os.Chmod(f.path(path), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(f.path("work/closed"), 0o700) })
	for _, path := range []string{"file", "closed/in", "closed/none"} {
		if r := f.run("Read", args{"file_path": path}); r.Code != turn.OSPermissionDenied {
			t.Errorf("%s: %s %s", path, r.Code, r.Text)
		}
	}
	if r := f.run("FindFiles", args{"directory": "closed"}); r.Code != turn.OSPermissionDenied {
		t.Errorf("%s %s", r.Code, r.Text)
	}
	if got, counts, _ := f.pages("FindFiles", args{}); strings.Join(got, " ") != "closed/ file open/ open/f" || !strings.Contains(f.ok("FindFiles", args{}).Text, "skipped: 1 unreadable path") {
		t.Errorf("%q, %v", got, counts)
	}
	if r := f.ok("SearchText", args{"text": "needle"}); !strings.Contains(r.Text, "1 line with the text in 1 file") || !strings.Contains(r.Text, "skipped: 2 unreadable paths") {
		t.Error(r.Text)
	}
}
