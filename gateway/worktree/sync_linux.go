package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll brings the file system that holds path to the disk: one call, where
// one for each file of a checkout would take minutes.
func syncAll(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
