// Package scratch makes folders for a moment's work in the system's temporary
// directory, and removes those that a killed process left.
//
// Contract:
//   - A folder is this user's alone (0700) and locked while it is in use.
//   - Make first removes every folder of this package and this user that nobody
//     holds, so what a kill leaves is gone with the next use.
//
// Not covered: folders below another TMPDIR; systems whose temporary directory
// knows no locks.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix begins every name. It is short: a unix socket's path below the folder
// has about a hundred bytes.
const prefix = "deckhand-tmp-"

// tries is how often a folder is made anew that another's sweep removed in the
// instant before it was locked.
const tries = 10

// Dir is a folder in use.
type Dir struct {
	// Path is its name, without links in it.
	Path string
	lock *os.File
}

// Make makes a folder. Close must be called.
func Make() (*Dir, error) {
	parent, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("find the temporary directory: %w", err)
	}
	if err := sweep(parent); err != nil {
		return nil, fmt.Errorf("sweep the temporary directory: %w", err)
	}
	for range tries {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		lock, err := take(path)
		if err == nil {
			return &Dir{Path: path, lock: lock}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("make a folder in %s: it is removed again and again", parent)
}

// Close removes the folder and what is in it.
func (d *Dir) Close() error { return errors.Join(os.RemoveAll(d.Path), d.lock.Close()) }

// sweep removes the folders that nobody holds.
func sweep(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		lock, err := take(path)
		if err != nil {
			continue // in use, gone, or another user's
		}
		if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// take locks a folder of this user's.
func take(path string) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s is another user's", path)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, err
	}
	// It may have been removed before the lock was had.
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	return f, nil
}
