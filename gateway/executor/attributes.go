//go:build linux || darwin

package executor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// attributes is what a file has besides its content: what a replacement gets.
type attributes struct {
	mode     uint32 // permission bits
	uid, gid uint32
	xattrs   []xattr // sorted by name; access lists are among them on Linux
	system   systemAttributes
}

type xattr struct {
	name  string
	value []byte
}

// attributesOf reads them from an open file.
func attributesOf(fd int) (*attributes, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	a := &attributes{mode: uint32(st.Mode) & 0o7777, uid: st.Uid, gid: st.Gid}
	var err error
	if a.xattrs, err = xattrsOf(fd); err != nil {
		return nil, fmt.Errorf("read extended attributes: %w", err)
	}
	if a.system, err = systemAttributesOf(fd, &st); err != nil {
		return nil, fmt.Errorf("read access list: %w", err)
	}
	return a, nil
}

// xattrsOf reads the extended attributes of an open file.
func xattrsOf(fd int) ([]xattr, error) {
	names, err := grow(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
			return nil, nil // the file system has none
		}
		return nil, err
	}
	var all []xattr
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if name == "" || systemOwned(name) {
			continue
		}
		value, err := grow(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
		if errors.Is(err, noAttribute) {
			continue // removed just now
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, xattr{name, value})
	}
	slices.SortFunc(all, func(a, b xattr) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// grow calls get with a buffer that is large enough.
func grow(get func([]byte) (int, error)) ([]byte, error) {
	size := 256
	for {
		b := make([]byte, size)
		n, err := 0, error(nil)
		err = retry(func() (err error) { n, err = get(b); return err })
		if !errors.Is(err, unix.ERANGE) {
			return b[:max(n, 0)], err
		}
		if size *= 4; size > 64<<20 {
			return nil, err
		}
	}
}

// apply gives an open file these attributes, and makes sure that it has them.
// The owner comes first, because a change of it may clear others.
func (a *attributes) apply(fd int) error {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return err
	}
	if st.Uid != a.uid || st.Gid != a.gid {
		if err := retry(func() error { return unix.Fchown(fd, int(a.uid), int(a.gid)) }); err != nil {
			return fmt.Errorf("keep the owner: %w", err)
		}
	}
	// What the folder gave the new file and the original does not have goes.
	inherited, err := xattrsOf(fd)
	if err != nil {
		return fmt.Errorf("keep extended attributes: %w", err)
	}
	for _, x := range inherited {
		if !slices.ContainsFunc(a.xattrs, func(y xattr) bool { return y.name == x.name }) {
			if err := retry(func() error { return unix.Fremovexattr(fd, x.name) }); err != nil {
				return fmt.Errorf("keep extended attributes: remove %s: %w", x.name, err)
			}
		}
	}
	if err := retry(func() error { return unix.Fchmod(fd, a.mode) }); err != nil {
		return fmt.Errorf("keep the mode: %w", err)
	}
	for _, x := range a.xattrs {
		if slices.ContainsFunc(inherited, func(y xattr) bool { return y.name == x.name && bytes.Equal(y.value, x.value) }) {
			continue
		}
		if err := retry(func() error { return unix.Fsetxattr(fd, x.name, x.value, 0) }); err != nil {
			return fmt.Errorf("keep the extended attribute %s: %w", x.name, err)
		}
	}
	if err := a.system.apply(fd); err != nil {
		return fmt.Errorf("keep flags and access list: %w", err)
	}
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return err
	}
	if uint32(st.Mode)&0o7777 != a.mode || st.Uid != a.uid || st.Gid != a.gid {
		return fmt.Errorf("keep mode and owner: the file system has %04o %d:%d, not %04o %d:%d: %w",
			uint32(st.Mode)&0o7777, st.Uid, st.Gid, a.mode, a.uid, a.gid, unix.EPERM)
	}
	return nil
}
