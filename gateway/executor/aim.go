package executor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// aim says where a path argument of a write leads: the real absolute path,
// which lies below the root and need not exist. Nothing is opened for it; the
// walk that follows goes by descriptor and follows no link.
func (e *Executor) aim(view *protected.View, scope Scope, path string) (string, error) {
	asked := scope.absolute(path)
	if err := decideWrite(view, asked, asked, false); err != nil {
		return "", err
	}
	real, err := realTarget(view, asked)
	if err != nil {
		return "", err
	}
	if err := decideWrite(view, real, asked, false); err != nil {
		return "", err
	}
	switch {
	case real == scope.Root:
		return "", turn.Refuse(turn.NotARegularFile, "%s is the write root itself, a folder", showName(asked))
	case !insideOf(real, scope.Root):
		where := ""
		if real != asked {
			where = " (it leads to " + showName(real) + ")"
		}
		return "", turn.Refuse(turn.OutsideWriteRoot, "%s%s is not in this session's write root %s, the only folder in which it writes", showName(asked), where, showName(scope.Root))
	}
	return real, nil
}

func insideOf(path, dir string) bool {
	return dir == "/" && path != "/" || strings.HasPrefix(path, dir+"/")
}

// realTarget resolves the links on the way to the last component, which itself
// is never followed.
func realTarget(view *protected.View, asked string) (string, error) {
	name := filepath.Base(asked)
	rest := ""
	for at := filepath.Dir(asked); ; at = filepath.Dir(at) {
		fd, info, err := openQuietly(at, true)
		if err == nil {
			real, err := realPath(fd)
			unix.Close(fd)
			if err != nil {
				return "", turn.RefuseFor(turn.IOError, err, "%s could not be traced to where it really is", showName(asked))
			}
			if info.kind != directory {
				return "", turn.Refuse(turn.NotADirectory, "%s cannot be written: %s is not a folder", showName(asked), showName(at))
			}
			return filepath.Join(real, rest, name), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if errors.Is(err, unix.ENOTDIR) {
				rest = filepath.Join(filepath.Base(at), rest)
				continue
			}
			return "", explainOpen(view, asked, err)
		}
		if _, err := os.Readlink(at); err == nil {
			return "", refuseLink(view, at, asked)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// decideWrite refuses a path that a rule covers against writing; asked is how
// the caller wrote it. folds says that names on the way may be one although
// their letters differ in case.
func decideWrite(view *protected.View, path, asked string, folds bool) error {
	return refuseWrite(asked, view.DecideWrite(path, folds))
}

// refuseWrite returns nil if d allows.
func refuseWrite(asked string, d protected.Decision) error {
	switch {
	case d.Allowed:
		return nil
	case d.Kind == protected.Pseudo:
		return turn.Refuse(turn.PseudoFileSystem, "%s cannot be written by file tools: %s", showName(asked), d.Reason)
	case d.Kind == protected.ReadOnly:
		return turn.Refuse(turn.ProtectedPath, "%s is protected against writing (%s): %s. It can be read; the user decides what is protected", showName(asked), d.Rule, d.Reason)
	}
	return refuseProtected(asked, d)
}
