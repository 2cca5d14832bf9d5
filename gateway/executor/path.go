package executor

import (
	"path/filepath"
	"strings"

	"deckhand/gateway/turn"
)

// Limits of every file system that matters here, in bytes.
const (
	maxPath = 4096
	maxName = 255
)

// checkPath refuses a path that cannot name anything, whatever the disk holds.
func checkPath(argument, path string) error {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return badArgument(argument, "~ is not expanded; give an absolute path (or ./~ for that very name)")
	}
	if strings.HasPrefix(path, "file://") {
		return badArgument(argument, "is a URL; give the path without file://")
	}
	if len(path) > maxPath {
		return badArgument(argument, "is %d bytes long; a path has at most %d", len(path), maxPath)
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > maxName {
			return badArgument(argument, "holds a name of %d bytes; a name has at most %d", len(name), maxName)
		}
	}
	return nil
}

// absolute returns the clean absolute form of a path argument.
func (s Scope) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.WorkingDirectory, path)
	}
	return filepath.Clean(path)
}

// result makes the result of an error that locate or a walk returned.
func result(err error) turn.Result {
	if r, ok := err.(*turn.Refusal); ok {
		return turn.Failure(r.Code, r.Detail)
	}
	return turn.Failure(turn.IOError, "The computer reported an error that no rule covers; try again.")
}
