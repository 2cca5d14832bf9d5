package executor

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oSymlink opens a link itself (fcntl.h); x/sys does not name it.
const oSymlink = 0x200000

const openForReading = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// openQuietly opens a file, a folder or a link without blocking. Anything else
// is never opened: a look before and a look after make sure of it.
func openQuietly(path string, follow bool) (int, fileInfo, error) {
	var st unix.Stat_t
	stat := unix.Lstat
	flags := openForReading | unix.O_NOFOLLOW
	if follow {
		stat, flags = unix.Stat, openForReading
	}
	if err := retry(func() error { return stat(path, &st) }); err != nil {
		return -1, fileInfo{}, err
	}
	before := infoOf(&st)
	switch before.kind {
	case specialFile:
		return -1, fileInfo{}, unix.ENODEV
	case symlink:
		flags = openForReading | oSymlink
	}
	var fd int
	if err := retry(func() (err error) { fd, err = unix.Open(path, flags, 0); return err }); err != nil {
		return -1, fileInfo{}, err
	}
	info, err := statFD(fd)
	if err == nil && (info.dev != before.dev || info.ino != before.ino) {
		err = errMoved
	}
	if err != nil {
		unix.Close(fd)
		return -1, fileInfo{}, err
	}
	return fd, info, nil
}

// realPath asks the kernel where an open descriptor is.
func realPath(fd int) (string, error) {
	buf := make([]byte, 4*unix.PathMax)
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	runtime.KeepAlive(buf)
	if err != nil {
		return "", err
	}
	end := bytes.IndexByte(buf, 0)
	if end <= 0 || !filepath.IsAbs(string(buf[:end])) {
		return "", fmt.Errorf("the descriptor has no path")
	}
	return string(buf[:end]), nil
}

// reopen returns a descriptor of its own for what l names.
func reopen(l *located) (int, error) {
	return unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD_CLOEXEC, 0)
}

// openBelow opens the folder rel below the folder dir, where no component may
// be a link; "" is dir itself.
func openBelow(dir int, rel string) (int, error) {
	if rel == "" {
		rel = "."
	}
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(dir, rel, openForReading|unix.O_DIRECTORY|unix.O_NOFOLLOW_ANY, 0)
		return err
	})
	return fd, err
}

// openFileIn opens the regular file name in the folder dir for reading,
// without blocking and without following a link.
func openFileIn(dir int, name string) (int, error) {
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(dir, name, openForReading|unix.O_NOFOLLOW, 0)
		return err
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = unix.ENODEV // a socket
	}
	return fd, err
}

// isRemote reports contents that are in the cloud only.
func isRemote(st *unix.Stat_t) bool { return st.Flags&unix.SF_DATALESS != 0 }
