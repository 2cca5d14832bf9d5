package executor

import (
	"golang.org/x/sys/unix"

	"deckhand/gateway/crash"
)

// disk is what a write does to a file system, step by step. Names are single
// components in an open folder; no step follows a link. Tests put faults
// between.
type disk interface {
	makeDir(dir int, name string) error
	removeDir(dir int, name string) error
	// openFile opens a regular file for reading, without blocking.
	openFile(dir int, name string) (int, error)
	read(fd int, b []byte) (int, error)
	// create makes a file that must not exist and opens it for writing.
	create(dir int, name string, mode uint32) (int, error)
	write(fd int, b []byte) (int, error)
	// dress gives a file owner, mode, attributes and access list of another.
	dress(fd int, like *attributes) error
	syncFile(fd int) error
	// replace renames from over to; place renames from to a name that must not
	// exist.
	replace(dir int, from, to string) error
	place(dir int, from, to string) error
	remove(dir int, name string) error
	syncDir(dir int) error
	// reach is called at the points of a write.
	reach(at crash.Point)
}

// realDisk is the operating system's.
type realDisk struct{}

func (realDisk) makeDir(dir int, name string) error {
	return retry(func() error { return unix.Mkdirat(dir, name, 0o777) })
}

func (realDisk) removeDir(dir int, name string) error {
	return retry(func() error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

func (realDisk) openFile(dir int, name string) (int, error) { return openFileIn(dir, name) }

func (realDisk) read(fd int, b []byte) (n int, err error) {
	err = retry(func() (err error) { n, err = unix.Read(fd, b); return err })
	return n, err
}

func (realDisk) create(dir int, name string, mode uint32) (fd int, err error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	err = retry(func() (err error) { fd, err = unix.Openat(dir, name, flags, mode); return err })
	return fd, err
}

func (realDisk) write(fd int, b []byte) (n int, err error) {
	err = retry(func() (err error) { n, err = unix.Write(fd, b); return err })
	return n, err
}

func (realDisk) dress(fd int, like *attributes) error { return like.apply(fd) }

func (realDisk) syncFile(fd int) error { return retry(func() error { return syncFD(fd) }) }

func (realDisk) replace(dir int, from, to string) error {
	return retry(func() error { return unix.Renameat(dir, from, dir, to) })
}

func (realDisk) place(dir int, from, to string) error {
	return retry(func() error { return renameNew(dir, from, to) })
}

func (realDisk) remove(dir int, name string) error {
	return retry(func() error { return unix.Unlinkat(dir, name, 0) })
}

func (realDisk) syncDir(dir int) error { return retry(func() error { return syncFD(dir) }) }

func (realDisk) reach(at crash.Point) { crash.At(at) }
