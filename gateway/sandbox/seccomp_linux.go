package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is a list of refusals in front of "allow". Namespaces and lost
// capabilities already stop most of what it refuses; it shuts the calls that
// reach past them (sockets that ignore the network namespace, sockets of files,
// terminals) and those through which kernels are usually broken (user
// namespaces, mounts, bpf, io_uring). EPERM lets programs go on without;
// clone3 says ENOSYS, because then the C library falls back to clone, whose
// flags can be seen.
//
// Claude Code 2.1.247 works under all of it.

// denied calls answer EPERM, whatever their arguments.
var denied = append([]uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	// io_uring makes sockets and opens files past this filter.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// Mounts and namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	// Files by number instead of by name.
	unix.SYS_OPEN_BY_HANDLE_AT,
	// Kernel keys are the user's, not the sandbox's.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// Wide or privileged parts of the kernel.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_FANOTIFY_INIT, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL, unix.SYS_VHANGUP,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
}, deniedHere...)

const (
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	// In clone's flags this bit belongs to the signal at the end of the child.
	newTime = unix.CLONE_NEWTIME

	socketTypeMask = 0xf
	mptcp          = unix.IPPROTO_MPTCP
	x32Bit         = 0x40000000
)

// Offsets in struct seccomp_data. Arguments have 64 bits; everything checked
// here is an int to the kernel, which is the low half on a little-endian CPU.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
	offArg2   = 32
)

// program is a BPF program under construction. Jumps are written as "how many
// of the next instructions to leave out", so every rule reads from top to
// bottom and falls through to the next if it does not match.
type program []unix.SockFilter

func (p *program) load(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (p *program) mask(bits uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: bits})
}

// unless leaves out n instructions if the loaded value is not k.
func (p *program) unless(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: n})
}

// when leaves out n instructions if the loaded value is k.
func (p *program) when(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: n})
}

// whenBelow leaves out n instructions if the loaded value is less than k.
func (p *program) whenBelow(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: k, Jf: n})
}

// unlessAny leaves out n instructions if no bit of k is set.
func (p *program) unlessAny(k uint32, n uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: k, Jf: n})
}

func (p *program) answer(action uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
}

func (p *program) allow()              { p.answer(unix.SECCOMP_RET_ALLOW) }
func (p *program) refuse(e unix.Errno) { p.answer(unix.SECCOMP_RET_ERRNO | uint32(e)) }
func (p *program) call(nr uint32, rule program) {
	p.unless(nr, uint8(len(rule)))
	*p = append(*p, rule...)
}

// filter writes the program for one architecture. loopback allows sockets of
// the internet families, which reach only the namespace's own loopback.
func filter(arch uint32, loopback bool) program {
	var p program
	// A call in the manner of another architecture (int 0x80, x32) has other
	// numbers: none of the rules below would see it for what it is.
	p.load(offArch)
	p.when(arch, 1)
	p.answer(unix.SECCOMP_RET_KILL_PROCESS)
	p.load(offNumber)
	p.whenBelow(x32Bit, 1)
	p.refuse(unix.ENOSYS)
	for _, nr := range denied {
		p.unless(nr, 1)
		p.refuse(unix.EPERM)
	}
	p.unless(unix.SYS_CLONE3, 1)
	p.refuse(unix.ENOSYS)
	p.call(unix.SYS_CLONE, refuseBits(newNamespaces))
	p.call(unix.SYS_UNSHARE, refuseBits(newNamespaces|newTime))
	p.call(unix.SYS_IOCTL, terminalRule())
	p.call(unix.SYS_SOCKETPAIR, socketPairRule())
	p.call(unix.SYS_SOCKET, socketRule(loopback))
	p.allow()
	return p
}

// refuseBits refuses a call with any of the bits in its first argument.
func refuseBits(bits uint32) (p program) {
	p.load(offArg0)
	p.unlessAny(bits, 1)
	p.refuse(unix.EPERM)
	p.allow()
	return p
}

// terminalRule refuses to type into a terminal.
func terminalRule() (p program) {
	p.load(offArg1)
	p.unless(unix.TIOCSTI, 1)
	p.refuse(unix.EPERM)
	p.unless(unix.TIOCLINUX, 1)
	p.refuse(unix.EPERM)
	p.allow()
	return p
}

// socketPairRule allows connected stream pairs, which programs use as pipes. A
// datagram socket of a pair can be connected again, to a socket file.
func socketPairRule() (p program) {
	p.load(offArg0)
	p.when(unix.AF_UNIX, 1)
	p.refuse(unix.EPERM)
	p.load(offArg1)
	p.mask(socketTypeMask)
	p.when(unix.SOCK_STREAM, 1)
	p.refuse(unix.EPERM)
	p.allow()
	return p
}

// socketRule allows TCP and UDP, and asking the kernel for addresses and
// routes. It names what is allowed: AF_VSOCK, for example, is not bound to a
// network namespace. Multipath TCP escapes what is said about TCP.
func socketRule(loopback bool) (p program) {
	if !loopback {
		p.refuse(unix.EPERM)
		return p
	}
	var internet program
	internet.load(offArg2)
	internet.unless(mptcp, 1)
	internet.refuse(unix.EPERM)
	internet.load(offArg1)
	internet.mask(socketTypeMask)
	internet.unless(unix.SOCK_STREAM, 1)
	internet.allow()
	internet.unless(unix.SOCK_DGRAM, 1)
	internet.allow()
	internet.refuse(unix.EPERM)

	var netlink program
	netlink.load(offArg2)
	netlink.unless(unix.NETLINK_ROUTE, 1)
	netlink.allow()
	netlink.refuse(unix.EPERM)

	p.load(offArg0)
	p.call(unix.AF_NETLINK, netlink)
	p.when(unix.AF_INET, 2)
	p.when(unix.AF_INET6, 1)
	p.refuse(unix.EPERM)
	return append(p, internet...)
}

// installFilter puts the filter on every thread of this process.
func installFilter(p program) error {
	// With TSYNC the kernel gives the other threads this one's promise too.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	stuck, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return errno
	}
	if stuck != 0 {
		return fmt.Errorf("thread %d does not take it", stuck)
	}
	return nil
}
