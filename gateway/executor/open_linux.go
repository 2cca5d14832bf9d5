package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// openQuietly opens whatever path names without reading, blocking or waking a
// device: a descriptor for naming only.
func openQuietly(path string, follow bool) (int, fileInfo, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	var fd int
	err := retry(func() (err error) { fd, err = unix.Open(path, flags, 0); return err })
	if err != nil {
		return -1, fileInfo{}, err
	}
	info, err := statFD(fd)
	if err != nil {
		unix.Close(fd)
		return -1, fileInfo{}, err
	}
	return fd, info, nil
}

// realPath asks the kernel where an open descriptor is.
func realPath(fd int) (string, error) {
	path, err := os.Readlink(descriptor(fd))
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("the descriptor is not on this file system: %s", path)
	}
	return path, nil
}

func descriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// reopen opens for reading what a descriptor of openQuietly names.
func reopen(l *located) (int, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	var fd int
	err := retry(func() (err error) { fd, err = unix.Open(descriptor(l.fd), flags, 0); return err })
	return fd, err
}

// noOpenat2 is set when the kernel, or a filter around it, lacks openat2.
var noOpenat2 atomic.Bool

// openBelow opens the folder rel below the folder dir, where no component may
// be a link; "" is dir itself.
func openBelow(dir int, rel string) (int, error) {
	if rel == "" {
		rel = "."
	}
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !noOpenat2.Load() {
		how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		for {
			fd, err := unix.Openat2(dir, rel, &how)
			switch {
			case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
				continue
			case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
				noOpenat2.Store(true)
			default:
				return fd, err
			}
			break
		}
	}
	return openEach(dir, rel, flags)
}

// openEach does the same one component after the other.
func openEach(dir int, rel string, flags int) (int, error) {
	at := dir
	for name := range strings.SplitSeq(rel, "/") {
		var fd int
		err := retry(func() (err error) { fd, err = unix.Openat(at, name, flags, 0); return err })
		if at != dir {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

// openFileIn opens the file name in the folder dir for reading, without
// blocking and without following a link.
func openFileIn(dir int, name string) (int, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	var fd int
	err := retry(func() (err error) { fd, err = unix.Openat(dir, name, flags, 0); return err })
	return fd, err
}

// isRemote: Linux has no flag for contents in the cloud.
func isRemote(*unix.Stat_t) bool { return false }
