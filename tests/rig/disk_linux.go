package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/app/demo/child"
)

// mountsVariable tells a test that it is the run with mounts of its own.
const mountsVariable = "DECKHAND_TEST_MOUNTS"

// OwnMounts runs the test that calls it once more, in a process whose mounts
// nobody else sees and that end with it, and says false; there it says true. An
// ordinary user gets a user namespace for it. Where neither works the test
// fails.
func OwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(mountsVariable) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mountsVariable+"=1", plain.variable+"="+Program(t), crashing.variable+"="+CrashingProgram(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("with mounts of its own: %v\n%s", err, out)
	}
	return false
}

// Disk is a small file system in memory, for a test that OwnMounts said true
// to. It really runs full and is really read-only.
type Disk struct {
	// Path is where it is mounted.
	Path string

	t       testing.TB
	ballast []string
}

// NewDisk mounts a disk for so many bytes and names until the end of the test,
// by when nothing may use it any more.
func NewDisk(t testing.TB, bytes, names int) *Disk {
	t.Helper()
	// Not t.TempDir: sockets need short paths.
	path, err := os.MkdirTemp("", "dh-disk-")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,nr_inodes=%d,mode=0700", bytes, names)); err != nil {
		t.Fatalf("mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(unix.Unmount(path, 0), os.Remove(path)); err != nil {
			t.Errorf("take the small disk away: %v", err)
		}
	})
	return &Disk{Path: path, t: t}
}

// Fill takes all space, but for about spare bytes of it.
func (d *Disk) Fill(spare int64) {
	d.t.Helper()
	name := d.next()
	f, err := os.Create(name)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	piece := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(piece)
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Fatalf("fill the disk: %v", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(info.Size() - spare)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// FillNames takes all names, but for spare of them.
func (d *Disk) FillNames(spare int) {
	d.t.Helper()
	for {
		name := d.next()
		f, err := os.Create(name)
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil {
			d.t.Fatal(err)
		}
		f.Close()
	}
	d.ballast = d.ballast[:len(d.ballast)-1] // the one that did not fit
	for range spare {
		d.drop()
	}
}

// Free gives back all that Fill and FillNames took.
func (d *Disk) Free() {
	d.t.Helper()
	for len(d.ballast) > 0 {
		d.drop()
	}
}

// ReadOnly mounts the disk anew, to be read only or to be written.
func (d *Disk) ReadOnly(only bool) {
	d.t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if only {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("", d.Path, "", flags, ""); err != nil {
		d.t.Fatal(err)
	}
}

func (d *Disk) next() string {
	name := filepath.Join(d.Path, fmt.Sprintf("ballast-%d", len(d.ballast)))
	d.ballast = append(d.ballast, name)
	return name
}

func (d *Disk) drop() {
	d.t.Helper()
	last := len(d.ballast) - 1
	if err := os.Remove(d.ballast[last]); err != nil {
		d.t.Fatal(err)
	}
	d.ballast = d.ballast[:last]
}

// StateOn has the gateway keep its state on a disk.
func StateOn(d *Disk) Option {
	return func(o *child.Options) {
		o.State = filepath.Join(d.Path, "state")
		if err := os.Mkdir(o.State, 0o700); err != nil {
			d.t.Fatal(err)
		}
	}
}
