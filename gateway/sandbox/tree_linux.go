package sandbox

import (
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// wrapper is one running bwrap with the tree inside. It is the tree of a
// Process, and exists before it.
type wrapper struct {
	cmd        *exec.Cmd
	ended      chan struct{} // closed when bwrap is gone and was waited for
	complaints tail
	reports    *json.Decoder // of control; set before wait

	control *net.UnixConn

	mu     sync.Mutex
	pidfd  int // of the stage, which is pid 1 inside; -1 before and after
	killed bool
}

// hold keeps the descriptor of pid 1. Killing it makes the kernel kill every
// process of its namespace.
func (w *wrapper) hold(pidfd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pidfd = pidfd
	if w.killed {
		w.killLocked()
	}
}

func (w *wrapper) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killed = true
	w.killLocked()
}

// killLocked ends pid 1, and with it bwrap. Before pid 1 is known, bwrap is at
// work and must not be killed (see wrap): the stage ends when it finds the
// control socket closed. An error means that the process is gone already, or
// the socket closed, which is what was wanted.
func (w *wrapper) killLocked() {
	if w.pidfd >= 0 {
		unix.PidfdSendSignal(w.pidfd, unix.SIGKILL, nil, 0)
		return
	}
	w.control.Close()
}

// terminate needs no answer: if the stage is gone, so is the command.
func (w *wrapper) terminate() { encode(w.control, orderTerminate) }

// wait returns when bwrap and everything in the sandbox is gone, and says how
// the command ended.
func (w *wrapper) wait() Exit {
	exit := Exit{Code: -1, Signal: "SIGKILL"}
	var r report
	if w.reports != nil && w.reports.Decode(&r) == nil && r.Ended {
		exit = r.exit()
	}
	if w.pidfd < 0 {
		// The start failed and pid 1, if there is one, is about to end. This is
		// for a bwrap that hangs all the same.
		hangs := time.AfterFunc(setupLimit, func() { w.cmd.Process.Kill() })
		defer hangs.Stop()
	}
	<-w.ended
	// bwrap may have been killed before its child was gone. The kernel calls
	// pid 1 of a namespace gone only after all others in it are. If pid 1 is
	// not known yet, it has started nothing, and it held the pipe of its
	// complaints, whose end was waited for with bwrap.
	if w.pidfd >= 0 {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(w.pidfd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pidfd >= 0 {
		unix.Close(w.pidfd)
		w.pidfd = -1
	}
	w.control.Close()
	return exit
}
