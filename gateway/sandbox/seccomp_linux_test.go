package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// callCase is a call that the filter denies. Outside, ordinary users may get
// EPERM too if it is rootOnly.
type callCase struct {
	rawCall
	rootOnly bool
}

const (
	badPointer = 1
	badFD      = 1<<64 - 1
	noProcess  = 0x7ffffff0
)

// deniedCalls are made with arguments that no kernel can act upon, so that
// they are harmless outside, where each gives another error than EPERM.
var deniedCalls = []callCase{
	{rawCall{"ptrace", unix.SYS_PTRACE, [6]uint64{unix.PTRACE_ATTACH, noProcess}}, false},
	{rawCall{"process_vm_readv", unix.SYS_PROCESS_VM_READV, [6]uint64{noProcess, 0, 0, 0, 0, 1}}, false},
	{rawCall{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, [6]uint64{noProcess, 0, 0, 0, 0, 1}}, false},
	{rawCall{"process_madvise", unix.SYS_PROCESS_MADVISE, [6]uint64{badFD, 0, 0, 0, 1}}, false},
	{rawCall{"pidfd_getfd", unix.SYS_PIDFD_GETFD, [6]uint64{badFD}}, false},
	{rawCall{"kcmp", unix.SYS_KCMP, [6]uint64{noProcess, noProcess}}, false},
	{rawCall{"io_uring_setup", unix.SYS_IO_URING_SETUP, [6]uint64{0, badPointer}}, true},
	{rawCall{"io_uring_enter", unix.SYS_IO_URING_ENTER, [6]uint64{badFD}}, false},
	{rawCall{"io_uring_register", unix.SYS_IO_URING_REGISTER, [6]uint64{badFD}}, false},
	{rawCall{"mount", unix.SYS_MOUNT, [6]uint64{badPointer, badPointer, badPointer}}, false},
	{rawCall{"umount2", unix.SYS_UMOUNT2, [6]uint64{badPointer}}, false},
	{rawCall{"pivot_root", unix.SYS_PIVOT_ROOT, [6]uint64{badPointer, badPointer}}, true},
	{rawCall{"chroot", unix.SYS_CHROOT, [6]uint64{badPointer}}, false},
	{rawCall{"setns", unix.SYS_SETNS, [6]uint64{badFD}}, false},
	{rawCall{"open_tree", unix.SYS_OPEN_TREE, [6]uint64{badFD, badPointer}}, false},
	{rawCall{"open_tree_attr", unix.SYS_OPEN_TREE_ATTR, [6]uint64{badFD, badPointer}}, false},
	{rawCall{"move_mount", unix.SYS_MOVE_MOUNT, [6]uint64{badFD, badPointer, badFD, badPointer}}, true},
	{rawCall{"mount_setattr", unix.SYS_MOUNT_SETATTR, [6]uint64{badFD, badPointer}}, false},
	{rawCall{"fsopen", unix.SYS_FSOPEN, [6]uint64{badPointer}}, true},
	{rawCall{"fsconfig", unix.SYS_FSCONFIG, [6]uint64{badFD}}, false},
	{rawCall{"fsmount", unix.SYS_FSMOUNT, [6]uint64{badFD}}, true},
	{rawCall{"fspick", unix.SYS_FSPICK, [6]uint64{badFD, badPointer}}, true},
	{rawCall{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, [6]uint64{badFD, badPointer}}, true},
	{rawCall{"keyctl", unix.SYS_KEYCTL, [6]uint64{9999}}, false},
	{rawCall{"add_key", unix.SYS_ADD_KEY, [6]uint64{badPointer, badPointer}}, false},
	{rawCall{"request_key", unix.SYS_REQUEST_KEY, [6]uint64{badPointer, badPointer}}, false},
	{rawCall{"bpf", unix.SYS_BPF, [6]uint64{9999}}, true},
	{rawCall{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, [6]uint64{badPointer}}, true},
	{rawCall{"userfaultfd", unix.SYS_USERFAULTFD, [6]uint64{badFD}}, true},
	{rawCall{"fanotify_init", unix.SYS_FANOTIFY_INIT, [6]uint64{badFD}}, true},
	{rawCall{"kexec_load", unix.SYS_KEXEC_LOAD, [6]uint64{0, 1 << 30, 0, badFD}}, true},
	{rawCall{"init_module", unix.SYS_INIT_MODULE, [6]uint64{badPointer, 0, badPointer}}, true},
	{rawCall{"finit_module", unix.SYS_FINIT_MODULE, [6]uint64{badFD, badPointer}}, true},
	{rawCall{"delete_module", unix.SYS_DELETE_MODULE, [6]uint64{badPointer}}, true},
	{rawCall{"reboot", unix.SYS_REBOOT, [6]uint64{}}, true},
	{rawCall{"swapon", unix.SYS_SWAPON, [6]uint64{badPointer}}, true},
	{rawCall{"swapoff", unix.SYS_SWAPOFF, [6]uint64{badPointer}}, true},
	{rawCall{"acct", unix.SYS_ACCT, [6]uint64{badPointer}}, true},
	{rawCall{"quotactl", unix.SYS_QUOTACTL, [6]uint64{1 << 31, badPointer}}, true},
	{rawCall{"quotactl_fd", unix.SYS_QUOTACTL_FD, [6]uint64{badFD}}, false},
	{rawCall{"syslog", unix.SYS_SYSLOG, [6]uint64{9999}}, true},
	{rawCall{"unshare of a user namespace", unix.SYS_UNSHARE, [6]uint64{unix.CLONE_NEWUSER}}, false},
	{rawCall{"unshare of a time namespace", unix.SYS_UNSHARE, [6]uint64{unix.CLONE_NEWTIME | unix.CLONE_THREAD}}, false},
	{rawCall{"typing into a terminal", unix.SYS_IOCTL, [6]uint64{badFD, unix.TIOCSTI}}, false},
	{rawCall{"the same, with other high bits", unix.SYS_IOCTL, [6]uint64{badFD, 0xdeadbeef<<32 | unix.TIOCSTI}}, false},
	{rawCall{"pasting into a terminal", unix.SYS_IOCTL, [6]uint64{badFD, unix.TIOCLINUX}}, false},
}

func TestDeniedSystemCallsAnswerEPERM(t *testing.T) {
	var calls []rawCall
	for _, c := range deniedCalls {
		calls = append(calls, c.rawCall)
	}
	text, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	in := decode[[]int](t, confined(t, Policy{Network: PrivateLoopback}, "calls", string(text)))
	out := decode[[]int](t, unconfined(t, "calls", string(text)))
	for i, c := range deniedCalls {
		if in[i] != int(unix.EPERM) {
			t.Errorf("%s: %v inside", c.Name, unix.Errno(in[i]))
		}
		if out[i] == int(unix.EPERM) && !(c.rootOnly && os.Getuid() != 0) {
			t.Errorf("%s: vacuous, EPERM outside too", c.Name)
		}
	}
}

func TestNoNamespaceCanBeMade(t *testing.T) {
	flags := strconv.FormatUint(unix.CLONE_NEWUSER|unix.CLONE_NEWNET, 10)
	if got := decode[int](t, confined(t, Policy{}, "namespace", flags)); got != int(unix.EPERM) {
		t.Errorf("inside: %v", unix.Errno(got))
	}
	if got := decode[int](t, unconfined(t, "namespace", flags)); got != 0 {
		t.Errorf("vacuous, outside: %v", unix.Errno(got))
	}
	// Without flags it is an ordinary child, which must work.
	if got := decode[int](t, confined(t, Policy{}, "namespace", "0")); got != 0 {
		t.Errorf("no child can be started: %v", unix.Errno(got))
	}
}

func TestClone3IsUnknownSoThatProgramsUseClone(t *testing.T) {
	call := `[{"number":` + strconv.Itoa(unix.SYS_CLONE3) + `}]`
	if got := decode[[]int](t, confined(t, Policy{}, "calls", call)); got[0] != int(unix.ENOSYS) {
		t.Errorf("inside: %v", unix.Errno(got[0]))
	}
	if got := decode[[]int](t, unconfined(t, "calls", call)); got[0] == int(unix.ENOSYS) {
		t.Error("vacuous: ENOSYS outside too")
	}
}

func socketArg(family, kind, protocol int) string {
	return strconv.Itoa(family) + " " + strconv.Itoa(kind) + " " + strconv.Itoa(protocol)
}

func TestWhichSocketsCanBeMade(t *testing.T) {
	tests := []struct {
		what      string
		arg       string
		loopback  bool // allowed with PrivateLoopback
		uncertain bool // may not exist outside: a privilege, or no such kernel part
	}{
		{"tcp", socketArg(unix.AF_INET, unix.SOCK_STREAM, 0), true, false},
		{"udp", socketArg(unix.AF_INET, unix.SOCK_DGRAM, 0), true, false},
		{"tcp over IPv6", socketArg(unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP), true, false},
		{"routes", socketArg(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), true, false},
		{"unix stream", socketArg(unix.AF_UNIX, unix.SOCK_STREAM, 0), false, false},
		{"unix datagram", socketArg(unix.AF_UNIX, unix.SOCK_DGRAM, 0), false, false},
		{"multipath tcp", socketArg(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP), false, true},
		{"kernel events", socketArg(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), false, false},
		{"audit", socketArg(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), false, true},
		{"virtual machines", socketArg(unix.AF_VSOCK, unix.SOCK_STREAM, 0), false, true},
		{"raw IP", socketArg(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), false, true},
		{"packets", socketArg(unix.AF_PACKET, unix.SOCK_RAW, 0), false, true},
		{"kernel crypto", socketArg(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), false, true},
	}
	var args []string
	for _, tt := range tests {
		args = append(args, tt.arg)
	}
	none := decode[[]int](t, confined(t, Policy{}, "sockets", args...))
	loopback := decode[[]int](t, confined(t, Policy{Network: PrivateLoopback}, "sockets", args...))
	out := decode[[]int](t, unconfined(t, "sockets", args...))
	for i, tt := range tests {
		want := int(unix.EPERM)
		if none[i] != want {
			t.Errorf("%s without network: %v", tt.what, unix.Errno(none[i]))
		}
		if tt.loopback {
			want = 0
		}
		if loopback[i] != want {
			t.Errorf("%s with loopback: %v", tt.what, unix.Errno(loopback[i]))
		}
		if out[i] != 0 && !tt.uncertain {
			t.Errorf("%s: vacuous, %v outside", tt.what, unix.Errno(out[i]))
		}
	}
}

func TestOnlyStreamPairsOfUnixSockets(t *testing.T) {
	kinds := []string{strconv.Itoa(unix.SOCK_STREAM), strconv.Itoa(unix.SOCK_DGRAM), strconv.Itoa(unix.SOCK_SEQPACKET)}
	if got := decode[[]int](t, confined(t, Policy{}, "pairs", kinds...)); got[0] != 0 || got[1] != int(unix.EPERM) || got[2] != int(unix.EPERM) {
		t.Errorf("inside %v", got)
	}
	if got := decode[[]int](t, unconfined(t, "pairs", kinds...)); got[0] != 0 || got[1] != 0 || got[2] != 0 {
		t.Errorf("vacuous, outside %v", got)
	}
}

// What cannot be tried on every machine is asked of the program itself, run as
// the kernel runs it.
func TestFilterProgram(t *testing.T) {
	const kill, allow = unix.SECCOMP_RET_KILL_PROCESS, unix.SECCOMP_RET_ALLOW
	refuse := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	tests := []struct {
		what string
		arch uint32
		nr   uint32
		args [6]uint64
		want uint32
	}{
		{"a call of another architecture", unix.AUDIT_ARCH_I386, unix.SYS_READ, [6]uint64{}, kill},
		{"one with the same byte order and size", unix.AUDIT_ARCH_RISCV64, unix.SYS_READ, [6]uint64{}, kill},
		{"an x32 call", auditArch, x32Bit | unix.SYS_READ, [6]uint64{}, refuse(unix.ENOSYS)},
		{"no call at all", auditArch, 1<<32 - 1, [6]uint64{}, refuse(unix.ENOSYS)},
		{"read", auditArch, unix.SYS_READ, [6]uint64{}, allow},
		{"clone of a thread", auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"clone of a child", auditArch, unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}, allow},
		{"clone of a network namespace", auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWNET}, refuse(unix.EPERM)},
		{"unshare of descriptors", auditArch, unix.SYS_UNSHARE, [6]uint64{unix.CLONE_FILES}, allow},
		{"ioctl of another kind", auditArch, unix.SYS_IOCTL, [6]uint64{0, unix.TCGETS}, allow},
		{"socket with high bits in the family", auditArch, unix.SYS_SOCKET, [6]uint64{1<<32 | unix.AF_UNIX, unix.SOCK_STREAM}, refuse(unix.EPERM)},
		{"socketpair of internet sockets", auditArch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_INET, unix.SOCK_STREAM}, refuse(unix.EPERM)},
		{"stream pair with flags", auditArch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
	}
	program := filter(auditArch, true)
	for _, tt := range tests {
		data := make([]byte, 64)
		binary.LittleEndian.PutUint32(data[offNumber:], tt.nr)
		binary.LittleEndian.PutUint32(data[offArch:], tt.arch)
		for i, a := range tt.args {
			binary.LittleEndian.PutUint64(data[offArg0+8*i:], a)
		}
		if got := interpret(t, program, data); got != tt.want {
			t.Errorf("%s: %#x and not %#x", tt.what, got, tt.want)
		}
	}
	for _, nr := range denied {
		data := make([]byte, 64)
		binary.LittleEndian.PutUint32(data[offNumber:], nr)
		binary.LittleEndian.PutUint32(data[offArch:], auditArch)
		if got := interpret(t, program, data); got != refuse(unix.EPERM) {
			t.Errorf("call %d: %#x", nr, got)
		}
	}
}

// interpret runs the few instructions that a filter is made of.
func interpret(t *testing.T, p program, data []byte) uint32 {
	t.Helper()
	var a uint32
	for at := 0; at < len(p); at++ {
		i := p[at]
		taken := false
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(data[i.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			taken = a == i.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			taken = a >= i.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			taken = a&i.K != 0
		default:
			t.Fatalf("instruction %d has code %#x", at, i.Code)
		}
		if taken {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
	t.Fatal("the program does not end with an answer")
	return 0
}
