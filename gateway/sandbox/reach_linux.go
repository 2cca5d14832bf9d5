package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// closedAnyway reports whether path lies in a directory that this user can only
// enter by a capability: root, in the home of another. In a sandbox nobody has
// one over files of others, neither bwrap, which could not mount there, nor the
// command, which therefore needs no cover there.
func closedAnyway(path string) (bool, error) {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if !mayEnter(info.Sys().(*syscall.Stat_t)) && !hasAccessList(dir) {
			return true, nil
		}
	}
	return false, nil
}

// mayEnter asks the mode of a directory, as the kernel does for a process whose
// capabilities end at its own user and group.
func mayEnter(s *syscall.Stat_t) bool {
	user, group := uint32(os.Geteuid()), uint32(os.Getegid())
	member := s.Gid == group
	if groups, err := os.Getgroups(); err == nil {
		member = member || slices.Contains(groups, int(s.Gid))
	}
	switch {
	case s.Uid == user && s.Gid == group:
		return true
	case s.Uid == user:
		return s.Mode&0o100 != 0
	case member:
		return s.Mode&0o010 != 0
	default:
		return s.Mode&0o001 != 0
	}
}

// hasAccessList reports whether more than the mode says who may enter, or
// whether that cannot be told.
func hasAccessList(dir string) bool {
	_, err := unix.Lgetxattr(dir, "system.posix_acl_access", nil)
	return err != unix.ENODATA && err != unix.ENOTSUP
}
