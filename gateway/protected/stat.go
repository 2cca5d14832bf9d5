//go:build linux || darwin

package protected

import (
	"io/fs"
	"syscall"
)

// identify returns who a file is, whatever it is called.
func identify(info fs.FileInfo) identity {
	st := info.Sys().(*syscall.Stat_t)
	return identity{dev: uint64(st.Dev), ino: st.Ino}
}

// links returns how many names a file has.
func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }

// owner returns the user id of whom a file belongs to.
func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
