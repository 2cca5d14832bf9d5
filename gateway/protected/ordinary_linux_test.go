package protected

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deckhand/gateway/ordinary"
)

// TestEverythingHoldsForAnOrdinaryUserToo runs every other test once more as
// somebody whom the system keeps from things. An ordinary user has just run them.
func TestEverythingHoldsForAnOrdinaryUserToo(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := realPrefix(t.TempDir())
	binary, temp := filepath.Join(dir, "protected.test"), filepath.Join(dir, "tmp")
	mkdir(t, temp)
	if err := os.Chown(temp, ordinary.User, ordinary.User); err != nil {
		t.Fatal(err)
	}
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ordinary.Tests{
		Binary: binary, Dir: temp, Env: []string{"TMPDIR=" + temp, "HOME=" + temp, "PATH=" + os.Getenv("PATH")},
		Args: []string{"-test.skip", "Ordinary"},
		Must: []string{"TestScreenLeavesOutWhatTheSystemKeepsAnyway", "TestWhatScreenNamesCanBeHidden", "TestABindMountIsNoWayAround"},
	}.Run(t)
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
