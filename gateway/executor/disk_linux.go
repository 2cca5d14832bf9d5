package executor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openToPass opens a folder to go through it, which needs no right to list it.
const openToPass = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func syncFD(fd int) error { return unix.Fsync(fd) }

// renameNew renames to a name that must not exist.
func renameNew(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// A file system without that, or an old kernel: a second link is as
	// atomic, and where there are no links a look before has to do.
	err = unix.Linkat(dir, from, dir, to, 0)
	if err == nil {
		return unix.Unlinkat(dir, from, 0)
	}
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	if _, err := statIn(dir, to); !errors.Is(err, unix.ENOENT) {
		return unix.EEXIST
	}
	return unix.Renameat(dir, from, dir, to)
}

// foldingFlag marks ext4 and F2FS folders in which case is ignored.
const foldingFlag = 0x40000000

// Magic numbers of file systems that ignore case, or may.
var folding = map[uint32]bool{
	unix.MSDOS_SUPER_MAGIC: true, unix.EXFAT_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true,
	unix.HPFS_SUPER_MAGIC: true,
	0x5346544e:            true, // ntfs
	0x7366746e:            true, // ntfs3
	0x482b:                true, // hfsplus
	0x786f4256:            true, // vboxsf
	0xbacbacbc:            true, // vmhgfs
	unix.V9FS_MAGIC:       true,
	unix.FUSE_SUPER_MAGIC: true,
}

// foldsCase reports whether names in an open folder may be one although their
// letters differ in case.
func foldsCase(dir int) bool {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(dir, &st) }); err != nil || folding[uint32(st.Type)] {
		return true
	}
	flags, err := unix.IoctlGetInt(dir, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&foldingFlag != 0
}
