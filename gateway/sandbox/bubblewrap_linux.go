package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// stagePath is where the sandbox sees Config.Self: /dev is the one tree that
	// is never the host's.
	stagePath = stageDir + "/stage"
	stageDir  = "/dev/.deckhand"
	// Without a size a tmpfs may take half of the memory.
	tmpSize = 1 << 30
	shmSize = 64 << 20
)

// MaxHidden bounds Policy.Hidden: each is a mount, and what bwrap takes for
// them grows with their square. 64 cost it about as much again as all the rest.
const MaxHidden = 64

// stagePath is what SelfTest starts.
func (*Launcher) stagePath() string { return stagePath }

// baseTrees are the parts of the base system, as links on merged systems and
// as directories on others.
var baseTrees = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// baseFiles is all of /etc that a program needs to start and to tell the time.
var baseFiles = []string{"/etc/ld.so.cache", "/etc/localtime"}

// writableProc are the parts of /proc through which a real root changes the
// kernel. bwrap means to cover them, but asks whether the *directory* may be
// written, finds that it may not, and leaves the files in it as they are:
// /proc/sys/kernel/core_pattern then runs a program of the writer's on the host.
var writableProc = []string{"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/scsi",
	"/proc/driver", "/proc/acpi", "/proc/pressure", "/proc/sysrq-trigger", "/proc/mtrr"}

// arrangement is a sandbox as bwrap is told to make it.
type arrangement struct {
	// args are the arguments of bwrap, without the command.
	args []string
	// writable are the directories below which Landlock lets write.
	writable []string
}

// arrange writes the arguments of bwrap for a policy. Every mount point is made
// in a file system that is empty and ours, or is a path that check or
// privatePlaces has just found to be free of symlinks.
func arrange(self string, p Policy) (arrangement, error) {
	view, err := baseView()
	if p.View == WholeSystem {
		view, err = []string{"--ro-bind", "/", "/"}, nil
	}
	if err != nil {
		return arrangement{}, err
	}
	args := append([]string{
		"--unshare-all",
		// Both are "if possible" in --unshare-all; --disable-userns needs the
		// first.
		"--unshare-user", "--unshare-cgroup", "--disable-userns",
		"--cap-drop", "ALL",
		"--new-session", "--as-pid-1",
		"--hostname", "sandbox", "--clearenv",
	}, view...)
	args = append(args, "--proc", "/proc")
	for _, path := range writableProc {
		if _, err := os.Lstat(path); err == nil {
			args = append(args, "--ro-bind", path, path)
		}
	}
	args = append(args, "--dev", "/dev")
	args = append(args, tmpfs("/dev/shm", shmSize, "1777")...)
	args = append(args, "--ro-bind", self, stagePath, "--remount-ro", "/dev")
	places, err := privatePlaces(p.View)
	if err != nil {
		return arrangement{}, err
	}
	a := arrangement{writable: append([]string{"/dev/shm"}, p.Writable...)}
	var closed []string
	for _, at := range places {
		args = append(args, tmpfs(at.path, tmpSize, at.mode)...)
		if at.writable && (p.View == BaseSystem || !slices.ContainsFunc(p.ReadOnly, at.holds)) {
			a.writable = append(a.writable, at.path)
		} else {
			closed = append(closed, at.path)
		}
	}
	for _, path := range p.shown(places) {
		bind := "--ro-bind"
		if slices.Contains(p.Writable, path) {
			bind = "--bind"
		}
		args = append(args, bind, path, path)
	}
	for _, path := range closed {
		args = append(args, "--remount-ro", path)
	}
	covers, err := p.covers(places)
	if err != nil {
		return arrangement{}, err
	}
	args = append(args, covers...)
	if p.View == BaseSystem {
		args = append(args, "--remount-ro", "/")
	}
	a.args = append(args, "--chdir", "/")
	return a, nil
}

func tmpfs(path string, size int, mode string) []string {
	return []string{"--size", strconv.Itoa(size), "--perms", mode, "--tmpfs", path}
}

// baseView shows the base system.
func baseView() ([]string, error) {
	args := []string{"--ro-bind", "/usr", "/usr"}
	for _, path := range slices.Concat(baseTrees, baseFiles) {
		base, err := bindBase(path)
		if err != nil {
			return nil, err
		}
		args = append(args, base...)
	}
	return args, nil
}

// bindBase shows one path of the base system as it is: a link as that link, a
// file or directory as itself, nothing as nothing.
func bindBase(path string) ([]string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return []string{"--ro-bind", path, path}, nil
	}
	target, err := os.Readlink(path)
	if err != nil {
		return nil, err
	}
	abs := target
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(filepath.Dir(path), target)
	}
	if !inside(abs, "/usr") {
		return nil, fmt.Errorf("%s leads to %s, outside of /usr", path, abs)
	}
	return []string{"--symlink", target, path}, nil
}

// argumentFile holds arguments as bwrap's --args reads them, so that no list
// of processes shows what a sandbox is made of. The caller closes it.
func argumentFile(args []string) (*os.File, error) {
	fd, err := unix.MemfdCreate("bwrap-args", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "bwrap-args")
	if _, err := f.WriteString(strings.Join(args, "\x00") + "\x00"); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
