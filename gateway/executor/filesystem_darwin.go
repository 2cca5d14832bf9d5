package executor

import (
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystemOf says what the file system of an open descriptor is. One that
// cannot be asked counts as the kernel's.
func fileSystemOf(fd int) fileSystemKind {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return pseudoFileSystem
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	switch {
	case name == "devfs", name == "autofs", name == "nullfs":
		return pseudoFileSystem
	case strings.Contains(name, "fuse"), st.Flags&unix.MNT_LOCAL == 0:
		return distantFileSystem
	}
	return localFileSystem
}
