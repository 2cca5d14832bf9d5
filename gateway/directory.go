package gateway

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

// checkDirectory returns the rule for working directories: an existing
// directory by absolute path, which may be any that is not protected. The
// session lives with its real path.
func checkDirectory(paths *protected.Paths) func(string) (string, error) {
	return func(path string) (string, error) {
		invalid := func(cause error, why string) error {
			return turn.RefuseFor(turn.WorkingDirectoryInvalid, cause, "working_directory %s", why)
		}
		switch {
		case !utf8.ValidString(path) || strings.ContainsRune(path, 0):
			return "", invalid(nil, "is not a path")
		case !filepath.IsAbs(path):
			return "", invalid(nil, "is not an absolute path; one starts with /")
		}
		real, err := filepath.EvalSymlinks(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", invalid(err, "does not exist")
		case errors.Is(err, fs.ErrPermission):
			return "", turn.RefuseFor(turn.OSPermissionDenied, err, "the system does not let Deckhand look at working_directory")
		case err != nil:
			return "", invalid(err, "cannot be resolved")
		}
		if d := paths.Decide(real, protected.Read); !d.Allowed {
			return "", turn.Refuse(turn.ProtectedPath, "working_directory cannot be used: %s", d.Reason)
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
}
