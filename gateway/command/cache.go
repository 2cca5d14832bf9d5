package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deckhand/gateway/turn"
)

// cacheFolder makes the one folder that commands of a session may write to and
// returns its real path. It is this user's alone, and its time is that of its
// last use, by which it is removed one day.
//
// What is in it was written by commands: nothing there is trusted, and no link
// in it is followed out of it.
func (r *Runner) cacheFolder(session turn.SessionID) (string, error) {
	if err := os.MkdirAll(r.cfg.Cache, 0o700); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	base, err := filepath.EvalSymlinks(r.cfg.Cache)
	if err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	dir := filepath.Join(base, string(session))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make cache: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("make cache: %s is not a directory", dir)
	}
	// A command may have taken its own rights to the folder away.
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("make cache: %w", err)
	}
	defer root.Close()
	for _, f := range privateFolders {
		if err := makeFolder(root, f.dir); err != nil {
			return "", fmt.Errorf("make cache: %w", err)
		}
	}
	return dir, touch(dir)
}

// makeFolder makes a folder below root, and puts it in the place of anything
// else that a command left there.
func makeFolder(root *os.Root, name string) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return nil
	}
	if root.MkdirAll(name, 0o700) == nil {
		return nil
	}
	// Something stands in the way: a file, a link, a folder without rights.
	top, _, _ := strings.Cut(name, "/")
	if err := root.RemoveAll(top); err != nil {
		return err
	}
	return root.MkdirAll(name, 0o700)
}

// touch marks a cache folder as used now.
func touch(dir string) error {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return fmt.Errorf("touch cache: %w", err)
	}
	return nil
}
