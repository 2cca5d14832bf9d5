package executor

import "golang.org/x/sys/unix"

// Magic numbers of linux/magic.h and of drivers that x/sys does not name.
var fileSystems = map[uint32]fileSystemKind{
	unix.PROC_SUPER_MAGIC: pseudoFileSystem, unix.SYSFS_MAGIC: pseudoFileSystem, unix.DEVPTS_SUPER_MAGIC: pseudoFileSystem,
	unix.DEBUGFS_MAGIC: pseudoFileSystem, unix.TRACEFS_MAGIC: pseudoFileSystem, unix.SECURITYFS_MAGIC: pseudoFileSystem,
	unix.CGROUP_SUPER_MAGIC: pseudoFileSystem, unix.CGROUP2_SUPER_MAGIC: pseudoFileSystem, unix.BPF_FS_MAGIC: pseudoFileSystem,
	unix.PSTOREFS_MAGIC: pseudoFileSystem, unix.EFIVARFS_MAGIC: pseudoFileSystem, unix.SELINUX_MAGIC: pseudoFileSystem,
	unix.BINFMTFS_MAGIC: pseudoFileSystem, unix.NSFS_MAGIC: pseudoFileSystem, unix.SMACK_MAGIC: pseudoFileSystem,
	unix.RDTGROUP_SUPER_MAGIC: pseudoFileSystem, unix.HUGETLBFS_MAGIC: pseudoFileSystem,
	0x62656570: pseudoFileSystem, // configfs
	0x65735543: pseudoFileSystem, // fusectl
	0x19800202: pseudoFileSystem, // mqueue
	0x67596969: pseudoFileSystem, // rpc_pipefs
	0x6e667364: pseudoFileSystem, // nfsd
	0x5a3c69f0: pseudoFileSystem, // apparmorfs
	0x00000187: pseudoFileSystem, // autofs: looking at it mounts things

	unix.NFS_SUPER_MAGIC: distantFileSystem, unix.SMB_SUPER_MAGIC: distantFileSystem, unix.SMB2_SUPER_MAGIC: distantFileSystem,
	unix.CIFS_SUPER_MAGIC: distantFileSystem, unix.FUSE_SUPER_MAGIC: distantFileSystem, unix.V9FS_MAGIC: distantFileSystem,
	unix.CEPH_SUPER_MAGIC: distantFileSystem, unix.CODA_SUPER_MAGIC: distantFileSystem, unix.AFS_SUPER_MAGIC: distantFileSystem,
	unix.NCP_SUPER_MAGIC: distantFileSystem, unix.AFS_FS_MAGIC: distantFileSystem, unix.OCFS2_SUPER_MAGIC: distantFileSystem,
	0x01161970: distantFileSystem, // gfs2
	0x0bd00bd0: distantFileSystem, // lustre
	0x47504653: distantFileSystem, // gpfs
	0x786f4256: distantFileSystem, // vboxsf
	0xbacbacbc: distantFileSystem, // vmhgfs
	0x20030528: distantFileSystem, // orangefs
}

// fileSystemOf says what the file system of an open descriptor is. One that
// cannot be asked counts as the kernel's.
func fileSystemOf(fd int) fileSystemKind {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return pseudoFileSystem
	}
	return fileSystems[uint32(st.Type)]
}
