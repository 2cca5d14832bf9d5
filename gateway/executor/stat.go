//go:build linux || darwin

package executor

import "golang.org/x/sys/unix"

func statFD(fd int) (fileInfo, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return fileInfo{}, err
	}
	return infoOf(&st), nil
}

// statIn looks at name in the folder dir, not following a link.
func statIn(dir int, name string) (fileInfo, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return fileInfo{}, err
	}
	return infoOf(&st), nil
}

// fileSystemKind says what a search does at the edge of a file system.
type fileSystemKind uint8

const (
	// localFileSystem: searches go on into it.
	localFileSystem fileSystemKind = iota
	// distantFileSystem: network or FUSE; read where it is named, not entered
	// from outside.
	distantFileSystem
	// pseudoFileSystem: the kernel's state as files; never read.
	pseudoFileSystem
)
