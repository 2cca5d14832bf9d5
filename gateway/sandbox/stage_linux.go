package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// stage does what the plan says, in the order that control_linux.go draws. Its
// end, for whatever reason, ends everything in the sandbox.
func stage() error {
	// First of all: nothing that a descriptor was leaked to may pass it on,
	// and nobody in here may look into pid 1, which is not yet confined.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("guard descriptors: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close own memory: %w", err)
	}
	// What the command sends to pid 1 has no effect. Not ignored, which the
	// command would inherit, but taken and dropped.
	signal.Notify(make(chan os.Signal, 1))
	// If bwrap is killed, so is all of this. The signal hangs on this thread.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask for a death signal: %w", err)
	}
	conn, err := fileConn(os.NewFile(controlFD, "control"))
	if err != nil {
		return err
	}
	var todo plan
	orders := json.NewDecoder(conn)
	if err := orders.Decode(&todo); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	listener, err := listen(todo.Listen)
	if err != nil {
		return err
	}
	if err := confine(todo); err != nil {
		return err
	}
	if err := sendReady(conn, listener); err != nil {
		return fmt.Errorf("send ready: %w", err)
	}
	if listener != nil {
		listener.Close()
	}
	var o order
	if err := orders.Decode(&o); err != nil || o != orderGo {
		return fmt.Errorf("wait for go: %q: %w", o, err)
	}
	pid, err := start(todo.task)
	if err != nil {
		return encode(conn, report{Failure: err.Error()})
	}
	if err := encode(conn, report{Started: true}); err != nil {
		return fmt.Errorf("send report: %w", err)
	}
	go obey(orders, pid)
	return encode(conn, reap(pid))
}

// listen opens 127.0.0.1:port, and nothing for 0. Plain system calls: package
// net would ask for multipath TCP, whose sockets leave the rules for TCP.
func listen(port int) (*os.File, error) {
	if port == 0 {
		return nil, nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make listener: %w", err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	addr := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if err := errors.Join(unix.Bind(fd, addr), unix.Listen(fd, unix.SOMAXCONN)); err != nil {
		f.Close()
		return nil, fmt.Errorf("listen on 127.0.0.1:%d: %w", port, err)
	}
	return f, nil
}

// obey carries out orders until the launcher is gone; then pid 1 ends, and
// everything with it. It ends with the stage.
func obey(orders *json.Decoder, pid int) {
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			os.Exit(1)
		}
		if o == orderTerminate {
			// The only error is that it ended, which reap reports.
			unix.Kill(pid, unix.SIGTERM)
		}
	}
}

// reap does what pid 1 is for: it waits for every orphan, until the command
// itself has ended.
func reap(pid int) report {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return report{Ended: true, Code: -1, Signal: int(unix.SIGKILL)}
		case got != pid:
		case status.Signaled():
			return report{Ended: true, Code: -1, Signal: int(status.Signal())}
		default:
			return report{Ended: true, Code: status.ExitStatus()}
		}
	}
}
