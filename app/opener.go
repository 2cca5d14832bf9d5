package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// reveal shows a folder or file with the desktop's own program, which goes on
// by itself.
func (a *app) reveal(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is no absolute path", path)
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	program, err := a.lookPath(opener)
	if err != nil {
		return withHint(fmt.Errorf("there is no %s to open %s with", opener, path), "install xdg-utils")
	}
	// The shell leaves it behind: an opener may run as long as the window is
	// there, and is nobody's child then.
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `"$@" >/dev/null 2>&1 </dev/null &`, "sh", program, path)
	cmd.Env = a.environ()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return nil
}
