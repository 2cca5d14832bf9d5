package sandbox

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file system that is mounted while a command runs, a stick that somebody
// plugs in, gets into its view without bwrap's having made it read-only. What
// keeps it from being written then is Landlock.
func TestAFileSystemThatAppearsTakesNoWrites(t *testing.T) {
	if os.Getuid() != 0 {
		return // nobody else mounts
	}
	dir := dirOutsideTmp(t)
	if real, err := os.MkdirTemp("/srv", "deckhand-test-"); err == nil {
		dir = real
		t.Cleanup(func() { os.RemoveAll(real) })
	}
	mkdirs(t, dir+"/stick", dir+"/cache")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "appear", dir)
	// The host's mounts are left alone: this is a copy of them, shared as they
	// are on a desktop.
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := decode[map[string]string](t, string(out))
	if got["read "+dir+"/stick/file"] != "" {
		t.Errorf("vacuous: it did not appear: %v", got)
	}
	for _, attempt := range []string{"create ", "open-to-write "} {
		for did, failure := range got {
			if strings.HasPrefix(did, attempt) && !strings.Contains(failure, "permission denied") {
				t.Errorf("%s: %q", did, failure)
			}
		}
	}
}

// appear starts a command, mounts something when it runs, and lets it try.
func appear(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return err
	}
	l, err := newLauncher()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	later, now, err := os.Pipe()
	if err != nil {
		return err
	}
	stick := filepath.Join(dir, "stick")
	p, err := l.Start(context.Background(), Policy{View: WholeSystem, Writable: []string{dir + "/cache"}}, Command{
		Path: stagePath, Env: probeEnv, Stdin: later, Stdout: w, Stderr: os.Stderr,
		Args: []string{"probe", "filesLater", "read " + stick + "/file", "open-to-write " + stick + "/file", "create " + stick + "/new"},
	})
	if err != nil {
		return err
	}
	w.Close()
	said := bufio.NewReader(r)
	if _, err := said.ReadString('\n'); err != nil {
		return err
	}
	if err := unix.Mount("none", stick, "tmpfs", 0, ""); err != nil {
		return err
	}
	if err := os.WriteFile(stick+"/file", []byte("x"), 0o600); err != nil {
		return err
	}
	now.Close()
	if _, err := said.WriteTo(os.Stdout); err != nil {
		return err
	}
	p.Wait()
	return nil
}
