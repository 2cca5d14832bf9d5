package executor

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

const noAttribute = unix.ENOATTR

// systemOwned reports attributes that the system sets by itself and lets nobody
// else set.
func systemOwned(name string) bool {
	return name == "com.apple.provenance" || name == "com.apple.macl" || name == "com.apple.system.Security"
}

// binding: no extended attribute of macOS is bound to the content so that a
// changed file may not have it.
func binding(string) bool { return false }

// systemAttributes are flags of chflags and the access list in the form in
// which the kernel keeps it (kauth_filesec), nil if there is none.
type systemAttributes struct {
	flags uint32
	acl   []byte
}

// keptFlags are the flags that a user can set: hidden, nodump, opaque. One that
// forbids changes makes the write fail before.
const keptFlags = unix.UF_HIDDEN | unix.UF_NODUMP | unix.UF_OPAQUE

// attrExtendedSecurity is ATTR_CMN_EXTENDED_SECURITY of sys/attr.h.
const attrExtendedSecurity = 0x00400000

// aclEntries is where the number of entries stands in a kauth_filesec: behind
// a magic number and two 16-byte ids. This number says that there is no list.
const (
	aclEntries = 4 + 16 + 16
	noACL      = 0xffffffff
)

type attrList struct {
	count                             uint16
	_                                 uint16
	common, volume, dir, file, forked uint32
}

func systemAttributesOf(fd int, st *unix.Stat_t) (systemAttributes, error) {
	s := systemAttributes{flags: st.Flags & keptFlags}
	list := attrList{count: 5, common: attrExtendedSecurity}
	buf := make([]byte, 64<<10)
	_, _, errno := unix.Syscall6(unix.SYS_FGETATTRLIST, uintptr(fd), uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno == unix.ENOTSUP || errno == unix.EINVAL {
		return s, nil // the file system has no access lists
	}
	if errno != 0 {
		return s, errno
	}
	// length of all, then a reference: offset from itself and length.
	total := binary.NativeEndian.Uint32(buf)
	offset, length := binary.NativeEndian.Uint32(buf[4:]), binary.NativeEndian.Uint32(buf[8:])
	if length == 0 {
		return s, nil
	}
	if uint64(4)+uint64(offset)+uint64(length) > uint64(min(int(total), len(buf))) {
		return s, unix.ERANGE
	}
	acl := buf[4+offset : 4+offset+length]
	if len(acl) >= aclEntries+4 && binary.NativeEndian.Uint32(acl[aclEntries:]) != noACL {
		s.acl = append([]byte(nil), acl...)
	}
	return s, nil
}

func (s systemAttributes) apply(fd int) error {
	if s.acl != nil {
		list := attrList{count: 5, common: attrExtendedSecurity}
		buf := make([]byte, 8, 8+len(s.acl))
		binary.NativeEndian.PutUint32(buf, 8)
		binary.NativeEndian.PutUint32(buf[4:], uint32(len(s.acl)))
		buf = append(buf, s.acl...)
		if _, _, errno := unix.Syscall6(unix.SYS_FSETATTRLIST, uintptr(fd), uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0); errno != 0 {
			return errno
		}
	}
	if s.flags != 0 {
		return unix.Fchflags(fd, int(s.flags))
	}
	return nil
}
