package executor

import (
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// pseudoSpellings leads to the kernel's files in every way, the last ones by
// links of TestRefusalsBySpelling.
var pseudoSpellings = []spelling{
	{"/proc/self/environ", turn.PseudoFileSystem, ""},
	{"/proc/self/../self/environ", turn.PseudoFileSystem, ""},
	{"//proc//self///environ", turn.PseudoFileSystem, ""},
	{"/proc/self/root/etc/hostname", turn.PseudoFileSystem, ""},
	{"/proc/self/cwd/doc.go", turn.PseudoFileSystem, ""},
	{"/proc/1/environ", turn.PseudoFileSystem, ""},
	{"/proc/no/such", turn.PseudoFileSystem, ""},
	{"/sys/kernel/notes", turn.PseudoFileSystem, ""},
	{"/dev/null", turn.PseudoFileSystem, ""},
	{"/dev/../dev/zero", turn.PseudoFileSystem, ""},
	{"/run/user/0/bus", turn.PseudoFileSystem, ""},
	{"proc/environ", turn.PseudoFileSystem, ""},
	{"environ", turn.PseudoFileSystem, ""},
	{"zero", turn.PseudoFileSystem, ""},
}

// TestOneComponentAfterTheOther holds the way without openat2 to the same.
func TestOneComponentAfterTheOther(t *testing.T) {
	f := newFixture(t)
	f.mkdir("work/a/b/c")
	f.symlink("b", "work/a/link")
	f.write("work/a/file", "")
	root, err := unix.Open(f.work, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(root)
	for rel, works := range map[string]bool{".": true, "a": true, "a/b/c": true, "a/link": false, "a/link/c": false, "a/file": false, "a/none": false} {
		fd, err := openEach(root, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		if err == nil {
			unix.Close(fd)
		}
		if (err == nil) != works {
			t.Errorf("component by component, %s: %v", rel, err)
		}
		fd, err2 := openBelow(root, rel)
		if err2 == nil {
			unix.Close(fd)
		}
		if (err2 == nil) != works {
			t.Errorf("at once, %s: %v", rel, err2)
		}
	}
}
