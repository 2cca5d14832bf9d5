package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// places are the folders and files of this user on this system.
type places struct {
	// State is where the gateway keeps everything.
	State string
	// Config is the settings file, which need not exist.
	Config string
	// Worktrees is where the worktrees of sessions are made.
	Worktrees string
	// Caches is where commands of sessions may write.
	Caches string
}

// errNoHome says that nothing tells where the user's files are.
var errNoHome = errors.New("HOME is not set to an absolute path, and neither is the state directory")

// checkState refuses a state directory that others could read or replace. It
// returns fs.ErrNotExist if there is none.
func checkState(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("open state directory: %w", err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := filepath.EvalSymlinks(dir) // "" if it leads nowhere
		return withHint(fmt.Errorf("state directory %s is a symlink", dir), "name the folder itself: --state-dir %s", target)
	case !info.IsDir():
		return fmt.Errorf("state directory %s is not a directory", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("state directory %s belongs to another user", dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return withHint(fmt.Errorf("others can open the state directory %s (mode %04o)", dir, mode), "close it with: chmod 700 %s", dir)
	}
	return nil
}

// makeState creates the state directory, 0700, if there is none, and checks it.
func makeState(dir string) error {
	err := checkState(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make state directory: %w", err)
	}
	return checkState(dir)
}
