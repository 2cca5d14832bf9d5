package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The launching process and the stage speak over one stream socket pair, JSON
// values in both directions, but for the one byte that carries the listener:
//
//	launcher            stage
//	plan      ────►               listens, confines itself, checks that
//	          ◄────     ready     with the listener's descriptor
//	go        ────►               starts the command
//	          ◄────     report    started, or why not
//	terminate ────►               SIGTERM to the command, any number of times
//	          ◄────     report    how the command ended
//
// Either side that sees the end of the stream ends: the stage with everything
// in the sandbox, the launcher by waiting for that.

// Descriptors that bwrap hands through to the stage.
const (
	argsFD    = 3 // read and closed by bwrap
	controlFD = 4
	stdinFD   = 5
	stdoutFD  = 6
	stderrFD  = 7
)

// plan is what the stage has to do.
type plan struct {
	task
	// Writable are the directories below which anything may be written.
	Writable []string `json:"writable"`
	Loopback bool     `json:"loopback"`
	Listen   int      `json:"listen"`
	// Outside are the launcher's namespaces: none may be the stage's.
	Outside map[string]string `json:"outside"`
}

// controlPair makes the two ends. The kernel tells the launcher's end who
// sends: that is how the launcher learns the stage's process id, in its own
// namespace, from nobody's word.
func controlPair() (launcher *net.UnixConn, stage *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer ours.Close()
	if err := unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("ask for credentials: %w", err)
	}
	conn, err := fileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn, theirs, nil
}

func fileConn(f *os.File) (*net.UnixConn, error) {
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("use control socket: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("the control descriptor is no unix socket")
	}
	return conn, nil
}

// sendReady tells the launcher that the stage is confined. listener may be nil.
func sendReady(conn *net.UnixConn, listener *os.File) error {
	var rights []byte
	if listener != nil {
		rights = unix.UnixRights(int(listener.Fd()))
	}
	_, _, err := conn.WriteMsgUnix([]byte{'\n'}, rights, nil)
	return err
}

// readReady waits for sendReady. The listener is nil if none was sent.
func readReady(conn *net.UnixConn) (pid int, listener *os.File, err error) {
	data, oob := make([]byte, 1), make([]byte, 256)
	n, oobn, _, _, err := conn.ReadMsgUnix(data, oob)
	if err != nil {
		return 0, nil, err
	}
	if n == 0 {
		return 0, nil, io.EOF
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, nil, err
	}
	for _, m := range messages {
		if cred, err := unix.ParseUnixCredentials(&m); err == nil {
			pid = int(cred.Pid)
		}
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) == 1 && listener == nil {
			unix.CloseOnExec(fds[0])
			listener = os.NewFile(uintptr(fds[0]), "listener")
		}
	}
	if pid == 0 {
		if listener != nil {
			listener.Close()
		}
		return 0, nil, errors.New("the kernel does not say who the stage is")
	}
	return pid, listener, nil
}
