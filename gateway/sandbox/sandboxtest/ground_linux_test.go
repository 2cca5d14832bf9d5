package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// everySignal is what P02 sends.
const everySignal = syscall.SIGKILL

// toolFolders: the usual ones hold the tools.
func toolFolders() string { return "" }

// own makes what only Linux has.
func (g *ground) own(t *testing.T) {
	t.Helper()
	g.must(t, unix.Mkfifo(g.work("fifo"), 0o600))
	reader, err := os.OpenFile(g.work("fifo"), os.O_RDONLY|unix.O_NONBLOCK, 0)
	g.must(t, err)
	t.Cleanup(func() { reader.Close() })
	g.Abstract = "@" + filepath.Base(filepath.Dir(g.Home))
	if serve(t, "unix", g.Abstract) == "" {
		t.Fatal("the host cannot listen on an abstract address")
	}
	g.SharedMemory = 0x64656b00 + os.Getpid()%0xff
	id, err := unix.SysvShmGet(g.SharedMemory, 4096, unix.IPC_CREAT|0o600)
	g.must(t, err)
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
}

// harmless keeps what root may do to mounts from the machine: it sees the same
// files, in a namespace of mounts of its own.
func harmless(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
}
