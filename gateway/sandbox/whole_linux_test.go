package sandbox

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/ordinary"
)

// project makes a tree as a command meets one: in it are a file, a Git
// directory, a FIFO with a reader, a socket and secrets.
func project(t *testing.T, dir string) Policy {
	t.Helper()
	mkdirs(t, dir+"/project/.git", dir+"/project/keys", dir+"/cache", dir+"/secrets/deep")
	for name, text := range map[string]string{
		"project/file": "x", "project/.git/HEAD": "x", "project/.env": "x", "project/keys/key": "x", "secrets/deep/key": "x",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := unix.Mkfifo(dir+"/project/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(dir+"/project/fifo", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	socket, err := net.Listen("unix", dir+"/agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return Policy{
		View: WholeSystem, Network: PrivateLoopback,
		ReadOnly: []string{dir + "/project"}, Writable: []string{dir + "/cache"},
		Hidden: []string{dir + "/project/.env", dir + "/project/keys", dir + "/secrets"},
	}
}

// Wherever the project lies: below a private place it is as read-only as
// elsewhere, and its FIFO as closed.
func TestTheWholeSystemIsReadOnlyAndHiddenIsClosed(t *testing.T) {
	for _, home := range []string{"/var/tmp", "/tmp", "/home"} {
		dir, err := os.MkdirTemp(home, "deckhand-test-")
		if os.IsPermission(err) {
			continue // an ordinary user
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			// An attempt outside took the right to enter it away.
			if err := errors.Join(os.Chmod(dir+"/project/keys", 0o700), os.RemoveAll(dir)); err != nil {
				t.Error(err)
			}
		})
		p := project(t, dir)
		pr := dir + "/project"
		attempts(t, p, []string{
			"create " + pr + "/new", "open-to-write " + pr + "/file", "mode " + pr + "/file", "times " + pr + "/file",
			"rename " + pr + "/file", "link " + pr + "/file", "rename " + pr + "/keys", "rename " + dir + "/project",
			"open-to-write " + pr + "/fifo",
			"read " + pr + "/.env", "open-to-write " + pr + "/.env", "read " + pr + "/keys/key", "look " + pr + "/keys/key",
			"read " + dir + "/secrets/deep/key", "look " + dir + "/secrets/deep", "create " + dir + "/secrets/new",
			"mode " + pr + "/keys", "mode " + pr + "/.env",
		})
		works(t, p, "read "+pr+"/file", "read "+pr+"/.git/HEAD", "create "+dir+"/cache/new", "look "+pr+"/.env", "look "+pr+"/keys")
		for attempt, failure := range decode[map[string]string](t, confined(t, p, "files",
			"read "+pr+"/.env", "open-to-write "+pr+"/.env", "read "+pr+"/keys/key", "read "+dir+"/project/keys")) {
			if !strings.Contains(failure, "permission denied") {
				t.Errorf("%s: %q and not permission denied", attempt, failure)
			}
		}
	}
}

func TestThePrivatePlacesAreEmpty(t *testing.T) {
	p := Policy{View: WholeSystem}
	for _, place := range []string{"/tmp", "/var/tmp", "/run", "/dev/shm"} {
		if got := decode[[]string](t, confined(t, p, "list", place)); len(got) > 0 {
			t.Errorf("%s holds %v", place, got)
		}
	}
	works(t, p, "create /tmp/new", "create /var/tmp/new", "create /dev/shm/new", "read /etc/passwd", "look /sys/kernel", "look /home")
	for attempt, failure := range decode[map[string]string](t, confined(t, p, "files",
		"create /new", "create /usr/new", "create /etc/new", "create /run/new", "create /dev/new", "create /proc/new", "create /home/new")) {
		if failure == "" {
			t.Errorf("could %s", attempt)
		}
	}
	if got := decode[[]string](t, confined(t, p, "writableProc")); len(got) > 0 {
		t.Errorf("could open %v", got)
	}
}

// Root hides what is in the homes of others, too, where a root without
// capabilities, as there is in a sandbox, cannot go.
func TestWhatRootIsKeptFromInASandboxNeedsNoCover(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("/srv", "deckhand-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := Policy{View: WholeSystem}
	var reads []string
	for _, home := range []struct {
		name string
		mode os.FileMode
	}{{"closed", 0o700}, {"group", 0o750}, {"open", 0o755}} {
		at := filepath.Join(dir, home.name)
		mkdirs(t, at+"/keys")
		write(t, at+"/keys/key", "x")
		for path, mode := range map[string]os.FileMode{at: home.mode, at + "/keys": 0o700, at + "/keys/key": 0o644, dir: 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(at, ordinary.User, ordinary.User); err != nil {
			t.Fatal(err)
		}
		p.Hidden = append(p.Hidden, at+"/keys")
		reads = append(reads, "read "+at+"/keys/key")
	}
	attempts(t, p, reads)
}
