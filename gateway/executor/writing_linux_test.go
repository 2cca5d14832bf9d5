package executor

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// xattrText lists the extended attributes of a file, access lists among them.
func xattrText(t *testing.T, path string) string {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	all, err := xattrsOf(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q", all)
}
