package executor

import "golang.org/x/sys/unix"

// openToPass opens a folder to go through it, which needs no right to list it:
// O_SEARCH of fcntl.h, which x/sys does not name.
const openToPass = 0x40000000 | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// syncFD asks for a barrier to the disk itself; fsync only hands over to it. A
// file system that knows none gets an fsync.
func syncFD(fd int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); err == nil {
		return nil
	}
	return unix.Fsync(fd)
}

// renameNew renames to a name that must not exist.
func renameNew(dir int, from, to string) error {
	return unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
}

// foldsCase reports whether names in an open folder may be one although their
// letters differ in case. Protected paths are compared so everywhere on macOS.
func foldsCase(int) bool { return true }
