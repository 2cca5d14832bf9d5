package sandboxtest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ownAttempts are about what only Linux has.
var ownAttempts = slices.Concat(ownReading, ownWriting, ownPrivileges, ownNetwork, ownProcesses)

var (
	noSuchFile = want{"linux": errnos(unix.ENOENT)}
	closed     = want{"linux": errnos(unix.EACCES)}
	readOnlyFS = want{"linux": errnos(unix.EROFS)}
	denied     = want{"linux": errnos(unix.EPERM)}
)

// hostProcess is a path below /proc of the process outside.
func (g *ground) hostProcess(name string) string {
	return "/proc/" + strconv.Itoa(g.Process) + "/" + name
}

var ownReading = []attempt{
	{id: "R04", what: "a credential by another name of the root", want: hidden, try: func(g *ground) error {
		return read("/proc/self/root" + g.home(".ssh/id"))
	}},
	{id: "R04a", what: "the same of a thread", want: hidden, try: func(g *ground) error {
		return read("/proc/thread-self/root" + g.home(".netrc"))
	}},
	{id: "R04b", what: "the same by the working directory", want: hidden, try: func(*ground) error { return read("/proc/self/cwd/../.netrc") }},
	{id: "R04c", what: "a credential by the root of pid 1", want: closed, free: maybe, why: "pid 1 is root's, and some machines close it",
		try: func(g *ground) error { return read("/proc/1/root" + g.home(".ssh/id")) }},
	{id: "R05", what: "a hidden file by a handle of it", want: denied, free: rootThrough, why: "only root opens by handle", try: func(g *ground) error {
		// The handle of a folder that can be seen leads into the same file system.
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, g.Home, 0)
		if err != nil {
			return err
		}
		dir, err := unix.Open(g.Home, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(dir)
		fd, err := unix.OpenByHandleAt(dir, handle, unix.O_RDONLY)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{id: "R06", what: "a credential by the root of a process of the host", want: noSuchFile, try: func(g *ground) error {
		return read(g.hostProcess("root") + g.home(".ssh/id"))
	}},
	{id: "R06a", what: "the working directory of a process of the host", want: noSuchFile, try: func(g *ground) error { return list(g.hostProcess("cwd")) }},
	{id: "R07", what: "a descriptor of a process of the host", want: noSuchFile, try: func(g *ground) error { return read(g.hostProcess("fd/3")) }},
	{id: "R17", what: "take a cover away in a namespace of one's own", want: denied, free: rootThrough, why: "not every user may make them",
		try: func(*ground) error { return inNamespace(unix.CLONE_NEWUSER|unix.CLONE_NEWNS, "/bin/true") }},
	{id: "R17a", what: "take a cover away", want: denied, free: maybe, why: "nothing is covered there",
		try: func(g *ground) error { return unix.Unmount(g.home(".ssh"), unix.MNT_DETACH) }},
	{id: "R17b", what: "copy what is mounted", want: denied, free: rootThrough, why: "only root copies mounts", try: func(g *ground) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, g.Home, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{id: "R18", what: "a user namespace", want: denied, free: rootThrough, why: "not every user may make them",
		try: func(*ground) error { return inNamespace(unix.CLONE_NEWUSER, "/bin/true") }},
	{id: "R18a", what: "a user namespace by a program", want: want{"linux": says("Operation not permitted")}, free: rootThrough, why: "not every user may make them",
		try: func(*ground) error { return run("unshare", "--user", "true") }},
	{id: "R18b", what: "a user namespace by clone3", want: want{"linux": errnos(unix.ENOSYS)}, free: maybe, why: "the arguments are none",
		try: func(*ground) error { return raw(unix.SYS_CLONE3, 0, 0, 0) }},
	{id: "R19", what: "a root of one's own", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return unix.Chroot("/") }},
	{id: "R20", what: "a disk or the memory as a device", want: noSuchFile, free: maybe, why: "not every machine has them, and only root may", try: func(*ground) error {
		names := []string{"mem", "kmem", "port", "kmsg"}
		disks, err := os.ReadDir("/sys/class/block")
		if err != nil {
			return err
		}
		for _, d := range disks {
			names = append(names, d.Name())
		}
		var tries []error
		for _, name := range names {
			tries = append(tries, open("/dev/"+name))
		}
		return firstThrough([]syscall.Errno{unix.ENOENT}, tries...)
	}},
	{id: "R21", what: "make a device", want: want{"linux": errnos(unix.EPERM, unix.EACCES)}, free: rootThrough, why: "only root may", try: func(g *ground) error {
		path := g.cache("tmp/device")
		return errors.Join(unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))), os.Remove(path))
	}},
	{id: "R21a", what: "make a disk", want: want{"linux": errnos(unix.EPERM, unix.EACCES)}, free: rootThrough, why: "only root may", try: func(g *ground) error {
		path := g.cache("tmp/disk")
		return errors.Join(unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0))), os.Remove(path))
	}},
	{id: "R24", what: "the environment of a process of the host", want: noSuchFile, try: func(g *ground) error { return secretIn(g, g.hostProcess("environ")) }},
	{id: "R24a", what: "the environment of pid 1", want: closed, free: maybe, why: "pid 1 is root's, and some machines close it", try: func(*ground) error { return read("/proc/1/environ") }},
	{id: "R24b", what: "a secret in any environment", want: anyhow, try: func(g *ground) error {
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range all {
			if secretIn(g, path) == nil {
				return nil
			}
		}
		return errors.New("in none")
	}},
	{id: "R25", what: "a process of the host in the list of processes", want: noSuchFile, try: func(g *ground) error {
		_, err := os.Stat(g.hostProcess(""))
		return err
	}},
	{id: "R25a", what: "the same by ps", want: anyhow, try: func(g *ground) error { return run("ps", "-p", strconv.Itoa(g.Process)) }},
	{id: "R26", what: "the kernel's keys", want: denied, free: maybe, why: "not every kernel has them", try: func(*ground) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
		return err
	}},
}

// secretIn looks for the ground's secret in a file.
func secretIn(g *ground, path string) error {
	data, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(data, []byte(g.Secret)) {
		err = errors.New("it is not in there")
	}
	return err
}

func open(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// inNamespace runs a program in new namespaces.
func inNamespace(flags uintptr, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	return cmd.Run()
}

func raw(number, a, b, c uintptr) error {
	if _, _, errno := syscall.RawSyscall(number, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

var ownWriting = []attempt{
	{id: "W01e", what: "a FIFO in the session's directory", want: readOnlyFS, try: func(g *ground) error {
		return errors.Join(unix.Mkfifo(g.work("newfifo"), 0o600), os.Remove(g.work("newfifo")))
	}},
	{id: "W05", what: "the system's programs", want: readOnlyFS, free: rootThrough, why: "only root may", try: func(*ground) error { return create("/usr/local/bin/deckhand-test") }},
	{id: "W05a", what: "the system's settings", want: readOnlyFS, free: rootThrough, why: "only root may", try: func(*ground) error { return create("/etc/deckhand-test") }},
	{id: "W05b", what: "the system's queues", want: readOnlyFS, free: rootThrough, why: "only root may", try: func(*ground) error { return create("/var/spool/deckhand-test") }},
	{id: "W05c", what: "the root", want: readOnlyFS, free: rootThrough, why: "only root may", try: func(*ground) error { return create("/deckhand-test") }},
	{id: "W05d", what: "the states of services", want: readOnlyFS, free: rootThrough, why: "only root may", try: func(*ground) error { return create("/run/deckhand-test") }},
	{id: "W09", what: "a file by another name of the root", want: readOnlyFS, try: func(g *ground) error { return overwrite("/proc/self/root" + g.work("victim")) }},
	{id: "W09a", what: "a file by a descriptor that reads it", want: readOnlyFS, try: func(g *ground) error {
		f, err := os.Open(g.work("victim"))
		if err != nil {
			return err
		}
		defer f.Close()
		return overwrite(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	}},
	{id: "W11", what: "make the root writable", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error {
		return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RELATIME, "")
	}},
	{id: "W11a", what: "the same in the new way", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error {
		return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},
	{id: "W11b", what: "mount something over the session's directory", want: denied, free: rootThrough, why: "only root may", try: func(g *ground) error {
		return errors.Join(unix.Mount("none", g.work("sub"), "tmpfs", 0, ""), unix.Unmount(g.work("sub"), 0))
	}},
	{id: "W13a", what: "the memory that programs share", want: nil, try: func(g *ground) error { return os.WriteFile(g.sharedFile(), nil, 0o600) },
		left: func(g *ground) error { defer os.Remove(g.sharedFile()); return absent(g.sharedFile()) }},
	{id: "W13b", what: "the private temporary directories", want: nil, try: func(g *ground) error {
		return errors.Join(os.WriteFile("/tmp/"+filepath.Base(g.Temp)+".x", nil, 0o600), os.WriteFile("/var/tmp/"+filepath.Base(g.Temp)+".x", nil, 0o600))
	}, left: func(g *ground) error {
		a, b := "/tmp/"+filepath.Base(g.Temp)+".x", "/var/tmp/"+filepath.Base(g.Temp)+".x"
		defer os.Remove(a)
		defer os.Remove(b)
		return absent(a, b)
	}},
	{id: "W14", what: "a switch of the kernel", want: want{"linux": errnos(unix.ENOENT, unix.EROFS, unix.EACCES)}, free: rootThrough, why: "only root may",
		try: func(*ground) error {
			var tries []error
			for _, path := range []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
				"/sys/kernel/mm/transparent_hugepage/enabled", "/proc/sys/kernel/modprobe"} {
				tries = append(tries, overwrite(path))
			}
			// Not every kernel has all of them.
			return firstThrough([]syscall.Errno{unix.ENOENT, unix.EROFS, unix.EACCES}, tries...)
		}},
	{id: "W14a", what: "anything of /proc and /sys that is no process's", want: anyhow, free: rootThrough, why: "only root may", try: func(*ground) error {
		return anythingWritable("/proc", "/sys/kernel", "/sys/module", "/sys/class", "/sys/fs")
	}},
	{id: "W15", what: "a control group", want: readOnlyFS, free: maybe, why: "containers are kept from it, and users", try: func(*ground) error {
		const dir = "/sys/fs/cgroup/deckhand-test"
		return errors.Join(unix.Mkdir(dir, 0o700), unix.Rmdir(dir))
	}},
	{id: "W20", what: "8 GiB in /tmp", want: want{"linux": errnos(unix.ENOSPC)}, free: maybe, why: "the disk of the machine may be smaller",
		try: func(*ground) error { return fill("/tmp") }},
	{id: "W20a", what: "8 GiB in shared memory", want: want{"linux": errnos(unix.ENOSPC)}, free: never, why: "it would take the machine's memory",
		try: func(*ground) error { return fill("/dev/shm") }},
	{id: "N21", what: "a FIFO that a process of the host reads", want: closed, try: func(g *ground) error { return overwrite(g.work("fifo")) }},
	{id: "N21a", what: "the same by a program", want: want{"linux": says("Permission denied")}, try: func(g *ground) error {
		return run("sh", "-c", "echo x >"+g.work("fifo"))
	}},
}

func (g *ground) sharedFile() string { return "/dev/shm/" + filepath.Base(g.Temp) }

// fill takes 8 GiB of a file system without writing them.
func fill(dir string) error {
	f, err := os.CreateTemp(dir, "fill")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	return unix.Fallocate(int(f.Fd()), 0, 0, 8<<30)
}

// anythingWritable opens for writing what lies in directories of the kernel,
// and writes nothing.
func anythingWritable(dirs ...string) error {
	for _, dir := range dirs {
		var found string
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return filepath.SkipDir
			}
			if d.IsDir() && filepath.Dir(path) == "/proc" {
				if _, err := strconv.Atoi(d.Name()); err == nil {
					return filepath.SkipDir
				}
			}
			if d.Type().IsRegular() && overwrite(path) == nil {
				found = path
				return filepath.SkipAll
			}
			return nil
		})
		if found != "" {
			return nil
		}
	}
	return errors.New("nothing")
}

var ownPrivileges = []attempt{
	{id: "W16", what: "gain privileges by a program", want: anyhow, try: func(*ground) error { return status("NoNewPrivs", "1") }},
	{id: "W16a", what: "be without a filter", want: anyhow, try: func(*ground) error { return status("Seccomp", "2") }},
	{id: "W17", what: "any capability", want: anyhow, try: func(*ground) error {
		const none = "0000000000000000"
		return firstThrough(nil, status("CapEff", none), status("CapPrm", none), status("CapBnd", none), status("CapAmb", none), status("CapInh", none))
	}},
	{id: "W17a", what: "a core file", want: anyhow, free: maybe, why: "many machines make none", try: func(*ground) error {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
			return err
		}
		if limit.Max == 0 {
			return errors.New("the limit is 0")
		}
		return nil
	}},
	{id: "P03", what: "trace a process of the host", want: denied, free: rootThrough, why: "some machines keep users from it", try: func(g *ground) error {
		if err := unix.PtraceAttach(g.Process); err != nil {
			return err
		}
		var s unix.WaitStatus
		_, err := unix.Wait4(g.Process, &s, 0, nil)
		return errors.Join(err, unix.PtraceDetach(g.Process))
	}},
	{id: "P03a", what: "trace one's own child", want: denied, try: func(g *ground) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		var s unix.WaitStatus
		unix.Wait4(cmd.Process.Pid, &s, 0, nil)
		return errors.Join(unix.PtraceDetach(cmd.Process.Pid), ignore(cmd.Wait()))
	}},
	{id: "P04", what: "the memory of a process of the host by a call", want: denied, free: rootThrough, why: "some machines keep users from it", try: func(g *ground) error {
		// One byte of its program, which is not at any fixed place.
		address, err := firstAddress(g.hostProcess("maps"))
		if err != nil {
			address = 4096
		}
		buf := make([]byte, 1)
		_, err = unix.ProcessVMReadv(g.Process, []unix.Iovec{{Base: &buf[0], Len: 1}}, []unix.RemoteIovec{{Base: address, Len: 1}}, 0)
		return err
	}},
	{id: "P05", what: "a descriptor of a process of the host", want: noProcess, try: func(g *ground) error {
		fd, err := unix.PidfdOpen(g.Process, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{id: "P05a", what: "a descriptor out of another process", want: denied, try: func(*ground) error {
		fd, err := unix.PidfdOpen(os.Getpid(), 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		got, err := unix.PidfdGetfd(fd, 0, 0)
		if err != nil {
			return err
		}
		return unix.Close(got)
	}},
	{id: "P06", what: "the memory of a process of the host", want: noSuchFile, free: rootThrough, why: "some machines keep users from it",
		try: func(g *ground) error { return overwrite(g.hostProcess("mem")) }},
	{id: "P07", what: "a network namespace", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return unix.Unshare(unix.CLONE_NEWNET) }},
	{id: "P07a", what: "a pid namespace", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return inNamespace(unix.CLONE_NEWPID, "/bin/true") }},
	{id: "P07b", what: "a mount namespace", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{id: "P13", what: "type into a terminal", want: denied, free: maybe, why: "newer kernels have nobody do it", try: func(*ground) error { return typeInto(unix.TIOCSTI) }},
	{id: "P13a", what: "the same with other high bits", want: denied, free: maybe, why: "newer kernels have nobody do it", try: func(*ground) error { return typeInto(unix.TIOCSTI | 0xdead<<32) }},
	{id: "P13b", what: "paste into a terminal", want: denied, free: maybe, why: "a console is needed", try: func(*ground) error { return typeInto(unix.TIOCLINUX) }},
	{id: "P14", what: "the terminal of the gateway", want: want{"linux": errnos(unix.ENXIO)}, free: maybe, why: "the tests may have none", try: func(*ground) error { return open("/dev/tty") }},
	{id: "P14a", what: "the console", want: noSuchFile, free: maybe, why: "not every machine has one, and only root may", try: func(*ground) error { return open("/dev/console") }},
	{id: "P15", what: "the clock", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return err
		}
		return raw(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&now)), 0)
	}},
	{id: "P15a", what: "the host's name", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		return unix.Sethostname([]byte(name))
	}},
	{id: "P16", what: "a program in the kernel", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error {
		attr := [18]uint32{2, 4, 4, 1} // an array of one
		fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	}},
	{id: "P16a", what: "watch the kernel", want: denied, free: maybe, why: "some kernels do not offer it", try: func(*ground) error {
		fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: unix.PERF_COUNT_SW_DUMMY}, 0, -1, -1, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{id: "P16b", what: "answer page faults", want: denied, free: rootThrough, why: "some machines keep users from it", try: func(*ground) error {
		fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	}},
	{id: "P16c", what: "load a module", want: denied, free: maybe, why: "the module is none", try: func(*ground) error { return raw(unix.SYS_INIT_MODULE, 1, 0, 1) }},
	{id: "P21", what: "the memory of pid 1", want: closed, free: maybe, why: "pid 1 is root's, and some machines close it", try: func(*ground) error { return overwrite("/proc/1/mem") }},
	{id: "P21a", what: "the descriptors of pid 1", want: closed, free: maybe, why: "pid 1 is root's, and some machines close it", try: func(*ground) error { return read("/proc/1/fd/4") }},
}

func ignore(error) error { return nil }

// status succeeds unless a line of this process's status says what it should.
func status(name, should string) error {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name && strings.TrimSpace(value) == should {
			return fmt.Errorf("the kernel says %s %s", name, should)
		}
	}
	return nil
}

func firstAddress(maps string) (uintptr, error) {
	f, err := os.Open(maps)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('-')
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(line, "-"), 16, 64)
	return uintptr(n), err
}

// typeInto puts a character into a terminal's input.
func typeInto(request uintptr) error {
	terminal, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(terminal)
	c := byte('x')
	return raw(unix.SYS_IOCTL, uintptr(terminal), request, uintptr(unsafe.Pointer(&c)))
}

var ownNetwork = []attempt{
	{id: "N06a", what: "the socket of a service of the system", want: anyhow, free: maybe, why: "not every machine has one", try: func(*ground) error {
		sockets, _ := filepath.Glob("/run/*/*socket*")
		err := error(unix.ENOENT)
		for _, path := range append(sockets, "/run/docker.sock", "/run/dbus/system_bus_socket") {
			if err = hear("unix", path); err == nil {
				return nil
			}
		}
		return err
	}},
	{id: "N08", what: "a name in /run", want: anyhow, try: func(*ground) error {
		entries, err := os.ReadDir("/run")
		if err == nil && len(entries) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}},
	{id: "N10", what: "an abstract socket", want: denied, try: func(g *ground) error { return hear("unix", g.Abstract) }},
	{id: "N10a", what: "a unix socket of another kind", want: denied, try: func(*ground) error { return socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0) }},
	{id: "N11", what: "a pair of sockets that can be connected again", want: denied, try: func(*ground) error {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return errors.Join(unix.Close(fds[0]), unix.Close(fds[1]))
	}},
	{id: "N12", what: "sockets by io_uring", want: denied, free: maybe, why: "some machines offer it to nobody", try: func(*ground) error {
		var params [30]uint32
		fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	}},
	{id: "N13", what: "a socket in the manner of another processor", want: want{"linux": says("signal: ")}, free: maybe, why: "not every kernel knows the other manner",
		try: func(*ground) error { return foreignSocket() }},
	{id: "N13a", what: "a socket by a third table of calls", want: want{"linux": errnos(unix.ENOSYS)}, free: maybe, why: "not every kernel has the third",
		try: func(*ground) error { return raw(unix.SYS_SOCKET|1<<30, unix.AF_UNIX, unix.SOCK_STREAM, 0) }},
	{id: "N14", what: "a socket to the machine's host", want: denied, free: maybe, why: "not every kernel has them", try: func(*ground) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{id: "N15", what: "a packet socket", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{id: "N15a", what: "a raw socket", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{id: "N16", what: "the kernel's events", want: denied, try: func(*ground) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT) }},
	{id: "N16a", what: "the kernel's audit", want: denied, free: maybe, why: "not every kernel has it", try: func(*ground) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT) }},
	{id: "N16b", what: "the kernel's packet filter", want: denied, free: maybe, why: "not every kernel has it", try: func(*ground) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER) }},
	{id: "N16c", what: "the kernel's ciphers", want: denied, free: maybe, why: "not every kernel has them", try: func(*ground) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},
	{id: "N17", what: "a multipath socket", want: denied, free: maybe, why: "not every kernel has them", try: func(*ground) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) }},
	{id: "N17a", what: "a listener of the host with the first packet", want: refused, free: maybe, why: "the first packet is not always allowed", try: func(g *ground) error {
		host, err := net.ResolveTCPAddr("tcp4", g.TCP4)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: host.Port, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{id: "N18", what: "the network of the host", want: noSuchFile, free: rootThrough, why: "only root may", try: func(g *ground) error { return enter(g.hostProcess("ns/net")) }},
	{id: "N18a", what: "the network of pid 1", want: closed, free: maybe, why: "pid 1 is root's, and some machines close it", try: func(*ground) error { return enter("/proc/1/ns/net") }},
	{id: "N18b", what: "one's own network once more", want: denied, free: rootThrough, why: "only root may", try: func(*ground) error { return enter("/proc/self/ns/net") }},
	{id: "N19", what: "the host's sockets in /proc", want: anyhow, try: func(g *ground) error {
		_, port, err := net.SplitHostPort(g.TCP4)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		text, err := os.ReadFile("/proc/net/tcp")
		if err == nil && !bytes.Contains(text, []byte(strings.ToUpper(":"+hex.EncodeToString([]byte{byte(n >> 8), byte(n)})))) {
			err = errors.New("not there")
		}
		return err
	}},
	{id: "N19a", what: "the host's interfaces", want: anyhow, free: maybe, why: "not every machine has one", try: func(*ground) error {
		all, err := net.Interfaces()
		if err != nil {
			return err
		}
		for _, i := range all {
			if i.Flags&net.FlagLoopback == 0 {
				return nil
			}
		}
		return errors.New("only the loopback")
	}},
	{id: "N19b", what: "a loopback listener of its own", try: func(*ground) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		go func() {
			if c, err := l.Accept(); err == nil {
				c.Write([]byte("x"))
				c.Close()
			}
		}()
		return hear("tcp", l.Addr().String())
	}},
	{id: "N23", what: "a segment of shared memory", want: noSuchFile, try: func(g *ground) error {
		_, err := unix.SysvShmGet(g.SharedMemory, 4096, 0)
		return err
	}},
	{id: "N24", what: "a key of the user's", want: denied, free: maybe, why: "not every kernel has them", try: func(*ground) error {
		_, err := unix.AddKey("user", "deckhand-test", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	}},
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// enter enters the namespace that a file stands for.
func enter(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNET)
}

// foreignSocket asks for a unix socket with the numbers and the entry of a
// 32-bit program. Any answer would be one too many: the program must end by a
// signal, be it the filter's or, where there is no such entry, the processor's.
func foreignSocket() error {
	if runtime.GOARCH != "amd64" {
		return errors.New("signal: this processor has no other manner")
	}
	const program = `
import ctypes, mmap, sys
code = bytes([0x53,0xb8,0x67,0x01,0,0,0xbb,1,0,0,0,0xb9,1,0,0,0,0x31,0xd2,0xcd,0x80,0x5b,0xc3])
m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ|mmap.PROT_WRITE|mmap.PROT_EXEC)
m.write(code)
sys.exit(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))() < 0)
`
	return run("python3", "-c", program)
}

var ownProcesses = []attempt{
	{id: "P12", what: "end or stop pid 1", alone: true, free: never, why: "nothing happens there either: pid 1 is out of reach of all",
		try: func(*ground) error {
			for _, signal := range []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGTERM, unix.SIGSEGV} {
				if err := unix.Kill(1, signal); err != nil {
					return err
				}
			}
			return nil
		}},
	{id: "P17", what: "a handler of the kernel's for files of one's own", want: want{"linux": errnos(unix.ENOENT, unix.EROFS, unix.EACCES)}, free: maybe, why: "not every machine has it",
		try: func(*ground) error { return overwrite("/proc/sys/fs/binfmt_misc/register") }},
	{id: "P20", what: "more processes than allowed", alone: true, want: limitedUnlessRoot(), free: never, why: "it would hurt the machine", try: func(*ground) error { return storm(1100) }},
}

// limitedUnlessRoot: the kernel exempts a real root from the limit. KNOWN.
func limitedUnlessRoot() want {
	if os.Getuid() == 0 {
		return nil
	}
	return want{"linux": says("Resource temporarily unavailable")}
}

// storm starts n processes that only wait.
func storm(n int) error {
	return run("python3", "-c", `
import os, signal
for i in range(`+strconv.Itoa(n)+`):
    if os.fork() == 0:
        os.closerange(0, 3)
        signal.pause()
`)
}
