package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// privatePlace is a directory that the sandbox has its own of, empty.
type privatePlace struct {
	path     string
	mode     string
	writable bool
}

// holds reports whether path is the place or below it.
func (at privatePlace) holds(path string) bool { return path == at.path || inside(path, at.path) }

// privatePlaces are those of a view, by their real paths.
//
// In the whole system, one below which ReadOnly shows something of the host is
// not writable itself: a read-only mount does not keep anybody from writing
// into a FIFO in it, only Landlock does, and Landlock cannot take back for a
// part what it granted for the whole. What Claude Code is shown is Deckhand's
// own, and has no FIFO.
func privatePlaces(v View) ([]privatePlace, error) {
	if v == BaseSystem {
		return []privatePlace{{"/tmp", "1777", true}}, nil
	}
	var places []privatePlace
	for _, at := range []privatePlace{
		{"/tmp", "1777", true}, {"/var/tmp", "1777", true},
		// Sockets and states of the services of the host.
		{"/run", "0755", false},
	} {
		real, err := filepath.EvalSymlinks(at.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		at.path = real
		if !slices.ContainsFunc(places, func(other privatePlace) bool { return other.holds(real) }) {
			places = append(places, at)
		}
	}
	return places, nil
}

// shown are the paths that need a mount of their own, parents before children.
func (p Policy) shown(places []privatePlace) []string {
	list := slices.Clone(p.Writable)
	for _, path := range p.ReadOnly {
		if p.View == BaseSystem || slices.ContainsFunc(places, func(at privatePlace) bool { return at.holds(path) }) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// covers are the mounts over what is hidden. Nothing of a private place needs
// one, unless it is shown.
//
// A directory gets an empty one over it, with mode 000 and read-only, so that
// nobody can give himself the right to it. Anything else gets the null device,
// on a mount without devices: opening it fails for everybody, also for root,
// and programs that ask before they open see that it is no file of theirs.
func (p Policy) covers(places []privatePlace) ([]string, error) {
	shown := p.shown(places)
	var args []string
	for _, path := range p.Hidden {
		private := slices.ContainsFunc(places, func(at privatePlace) bool { return at.holds(path) })
		if private && !slices.ContainsFunc(shown, func(s string) bool { return inside(path, s) }) {
			continue
		}
		if closed, err := closedAnyway(path); err != nil {
			return nil, err
		} else if closed {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			args = append(args, "--ro-bind", os.DevNull, path)
			continue
		}
		args = append(args, "--perms", "0000", "--tmpfs", path, "--remount-ro", path)
	}
	return args, nil
}
