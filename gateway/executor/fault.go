package executor

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// fault is what an error of the operating system means to a caller.
type fault struct {
	code  turn.Code
	words string
}

// explainDisk translates an error of a step of a write.
func explainDisk(err error) fault {
	words := "unknown error"
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		words = errno.Error()
	}
	switch {
	case errors.Is(err, unix.ENOSPC):
		return fault{turn.NoSpace, "no space is left on the disk"}
	case errors.Is(err, unix.EDQUOT):
		return fault{turn.NoSpace, "the user's disk quota is used up"}
	case errors.Is(err, unix.EROFS):
		return fault{turn.ReadOnlyFileSystem, "the file system is mounted read-only"}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fault{turn.OSPermissionDenied, "the operating system does not let this user: " + words}
	case errors.Is(err, unix.ENOENT):
		return fault{turn.NotFound, "it was removed or moved meanwhile"}
	case errors.Is(err, unix.EFBIG):
		return fault{turn.TooLarge, "the file system cannot hold a file of that size"}
	}
	return fault{turn.IOError, words}
}
