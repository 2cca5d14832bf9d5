package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// directory returns the real path of where a command runs: an existing
// directory that is root or lies below it, and is not protected.
func directory(view *protected.View, dir, root string) (string, error) {
	invalid := func(cause error, why string) error {
		return turn.RefuseFor(turn.WorkingDirectoryInvalid, cause, "cwd %s %s", show(dir), why)
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", invalid(err, "does not exist")
	case errors.Is(err, fs.ErrPermission):
		return "", turn.RefuseFor(turn.OSPermissionDenied, err, "the system does not let Deckhand look at cwd %s", show(dir))
	case err != nil:
		return "", invalid(err, "cannot be resolved")
	case !utf8.ValidString(real):
		return "", invalid(nil, "leads to a path that is not UTF-8")
	}
	if !within(real, root) {
		return "", invalid(nil, "lies outside of "+show(root)+", the directory of this session")
	}
	if d := view.Decide(real, protected.Read); !d.Allowed {
		return "", turn.Refuse(turn.ProtectedPath, "cwd %s cannot be used: %s", show(dir), d.Reason)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", invalid(err, "cannot be read")
	}
	if !info.IsDir() {
		return "", invalid(nil, "is not a directory")
	}
	return real, nil
}

// within reports whether a real path is root or lies below it.
func within(real, root string) bool {
	return real == root || root == "/" || strings.HasPrefix(real, root+"/")
}
