package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// maxSocketPath is how many bytes of path every system takes for a socket.
const maxSocketPath = 100

// dialLimit bounds the question whether a socket is alive.
const dialLimit = 2 * time.Second

// ErrInUse: somebody answers on the socket already.
var ErrInUse = errors.New("socket is in use by a running process")

// Listen opens a unix socket that only this user's processes can use: 0600 in
// a directory of the user's own that is 0700 (made if it is missing), and a
// connection from another user is closed unseen. A dead socket in the way is
// replaced; a live one is ErrInUse. For a path over 100 bytes the socket is
// elsewhere, at a place that Dial finds by the same path.
//
// Close removes the socket unless somebody has made a new one there.
func Listen(path string) (net.Listener, error) {
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return l, nil
}

func listen(path string) (net.Listener, error) {
	path, err := place(path)
	if err != nil {
		return nil, err
	}
	if err := clear(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	o := &ownListener{UnixListener: l, path: path}
	// Until here only the directory kept others out, and that is enough.
	err = os.Chmod(path, 0o600)
	if err == nil {
		o.info, err = os.Lstat(path)
	}
	if err != nil {
		l.Close()
		os.Remove(path)
		return nil, err
	}
	return o, nil
}

// clear removes a dead socket. Two servers that start at the same moment can
// both find it dead; what keeps them apart is the ledger's lock.
func clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("there is something that is not a socket")
	}
	conn, err := net.DialTimeout("unix", path, dialLimit)
	if err == nil {
		conn.Close()
		return ErrInUse
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Dial connects to a socket of Listen, and makes sure that it is this user's
// own process that answers.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	path, err := shorten(path)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn, os.Geteuid()); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// place returns where the socket for path is and sees to its directory.
func place(path string) (string, error) {
	path, err := shorten(path)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory", dir)
	case !ok || int(owner.Uid) != os.Geteuid():
		return "", fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s is open to other users (mode %o, 0700 is needed)", dir, info.Mode().Perm())
	}
	return path, nil
}

// shorten returns the place of a socket with a long path: a name made of the
// path, in a directory of the user's own. It depends on nothing but the path
// and the user, because server and client each work it out.
func shorten(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", path)
	}
	path = filepath.Clean(path)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join("/tmp", "deckhand-"+strconv.Itoa(os.Geteuid()), hex.EncodeToString(sum[:12])+".sock"), nil
}

// ownListener accepts connections of this user only.
type ownListener struct {
	*net.UnixListener
	path  string
	info  fs.FileInfo
	close sync.Once
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.UnixListener.Accept()
		if err != nil {
			return nil, err
		}
		if checkPeer(conn, os.Geteuid()) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

func (l *ownListener) Close() error {
	l.close.Do(func() {
		// Only our own: a server that took over may have made a new one.
		if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.info) {
			os.Remove(l.path)
		}
	})
	return l.UnixListener.Close()
}

// checkPeer refuses a connection whose other end is not a process of want.
func checkPeer(conn net.Conn, want int) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("not a unix socket")
	}
	uid, err := peerUID(unix)
	if err != nil {
		return fmt.Errorf("ask who is at the other end: %w", err)
	}
	if uid != want {
		return errors.New("another user's process is at the other end")
	}
	return nil
}
