package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// program returns the absolute path of what argv[0] names: a path with a slash
// starts from the directory of the command, anything else is looked up in PATH.
// Links are kept as they are, since programs go by the name they are called by.
func (e *environment) program(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, runnable(path, name)
	}
	var refused error
	for _, folder := range e.path {
		path := filepath.Join(folder, name)
		err := runnable(path, path)
		if err == nil {
			return path, nil
		}
		if refused == nil && exists(path) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	detail := fmt.Sprintf("there is no program %s", show(name))
	if near := e.near(name); len(near) > 0 {
		detail += "; there is " + strings.Join(near, ", ")
	}
	detail += fmt.Sprintf(". Looked in %s", strings.Join(e.path, ", "))
	if e.doubt != "" {
		detail += fmt.Sprintf(" (the login shell could not be asked for more: %s)", e.doubt)
	}
	return "", &turn.Refusal{Code: turn.CommandNotFound, Detail: detail}
}

// runnable refuses what cannot be started, as far as that shows from outside.
func runnable(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return turn.RefuseFor(turn.CommandNotFound, err, "there is no program at %s", show(name))
	case err != nil:
		return turn.RefuseFor(turn.OSPermissionDenied, err, "the system does not let Deckhand at %s", show(name))
	case info.IsDir():
		return turn.Refuse(turn.CommandNotFound, "%s is a directory", show(name))
	case !info.Mode().IsRegular():
		return turn.Refuse(turn.CommandNotFound, "%s is no regular file", show(name))
	case unix.Access(path, unix.X_OK) != nil:
		return turn.Refuse(turn.CommandNotFound, "%s is not marked as executable; a script can be given to its interpreter, as in ['sh', %s]", show(name), show(name))
	}
	return nil
}

// Bounds of the look for names that are near to one that is not there.
const (
	nearEntries = 50_000
	nearNames   = 5
)

// near returns a few programs that somebody may have meant.
func (e *environment) near(name string) []string {
	limit := 1
	if len(name) > 4 {
		limit = 2
	}
	found := map[string]int{}
	left := nearEntries
	for _, folder := range e.path {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // it is only a hint
		}
		if left -= len(entries); left < 0 {
			break
		}
		for _, entry := range entries {
			other := entry.Name()
			d := distance(name, other, limit)
			if strings.TrimRight(other, "0123456789.") == name {
				d = 0 // python3 for python
			}
			if d <= limit && runnable(filepath.Join(folder, other), other) == nil {
				found[other] = d
			}
		}
	}
	names := make([]string, 0, len(found))
	for other := range found {
		names = append(names, other)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := found[a] - found[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), nearNames)]
}

// distance is how many single changes lead from a to b, a swap of neighbours
// being one, or limit+1 if they are more.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now := make([]int, len(b)+1)
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last = last, now
	}
	return min(last[len(b)], limit+1)
}
