package executor

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// place is where a file is or will be: its folder open, reached from a root
// without following a link.
type place struct {
	view *protected.View
	// asked is how errors name the file.
	asked string
	// dir is open on the deepest folder that exists, which really is at; missing
	// are the folders below it that the file lies in and that do not exist.
	dir     int
	at      string
	info    fileInfo
	missing []string
	name    string
	// folds says that letters of either case are one in a folder on the way.
	folds bool
}

func (p *place) close() { unix.Close(p.dir) }

// folder is the real path of the file's folder.
func (p *place) folder() string { return below(p.at, strings.Join(p.missing, "/")) }

// path is the real path of the file.
func (p *place) path() string { return below(p.folder(), p.name) }

// enter walks from the folder root to the folder of real, a clean path below
// it. No component may be a link or hidden under another name. Folders that do
// not exist are noted.
func enter(view *protected.View, root, real, asked string) (*place, error) {
	var dir int
	err := retry(func() (err error) { dir, err = unix.Open(root, openToPass, 0); return err })
	if err != nil {
		return nil, turn.RefuseFor(turn.OutsideWriteRoot, err, "the folder %s, in which this session writes, cannot be opened any more", showName(root))
	}
	p := &place{view: view, asked: asked, dir: dir, at: root, name: filepath.Base(real)}
	if at, err := realPath(dir); err != nil || at != root {
		p.close()
		return nil, turn.RefuseFor(turn.OutsideWriteRoot, err, "the folder %s, in which this session writes, was moved or replaced", showName(root))
	}
	if err := p.walk(filepath.Dir(real)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// walk goes down to folder, and opens where it ends for the steps of a write.
func (p *place) walk(folder string) error {
	if err := p.look(); err != nil {
		return err
	}
	rel := strings.Trim(strings.TrimPrefix(folder, p.at), "/")
	if rel != "" {
		names := strings.Split(rel, "/")
		for i, name := range names {
			err := p.step(name)
			if errors.Is(err, unix.ENOENT) {
				p.missing = names[i:]
				break
			}
			if err != nil {
				return err
			}
		}
	}
	// The descriptor of a folder that is only passed can do nothing.
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(p.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return p.explain(p.at, err)
	}
	unix.Close(p.dir)
	p.dir = fd
	if fileSystemOf(fd) == pseudoFileSystem {
		return turn.Refuse(turn.PseudoFileSystem, "%s lies in a kernel or device file system, in which file tools do not write", showName(p.asked))
	}
	return decideWrite(p.view, p.path(), p.asked, p.folds)
}

// step goes one folder down. It returns unix.ENOENT as it is.
func (p *place) step(name string) error {
	var fd int
	err := retry(func() (err error) { fd, err = unix.Openat(p.dir, name, openToPass, 0); return err })
	if errors.Is(err, unix.ENOENT) {
		return unix.ENOENT
	}
	if err != nil {
		return p.explain(below(p.at, name), err)
	}
	unix.Close(p.dir)
	p.dir, p.at = fd, below(p.at, name)
	return p.look()
}

// look decides on the folder that is open, whatever it is called.
func (p *place) look() error {
	info, err := statFD(p.dir)
	if err != nil {
		return p.explain(p.at, err)
	}
	p.info = info
	p.folds = p.folds || foldsCase(p.dir)
	return refuseWrite(p.asked, p.view.SameWrite(info.dev, info.ino))
}

// explain says why a folder on the way could not be opened.
func (p *place) explain(folder string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		// What aim resolved has become a link since, or is a file.
		if info, err := statIn(p.dir, filepath.Base(folder)); err == nil && info.kind != symlink {
			return turn.Refuse(turn.NotADirectory, "%s cannot be written: %s is not a folder", showName(p.asked), showName(folder))
		}
		return turn.Refuse(turn.SymlinkRefused, "%s cannot be written: %s is a symbolic link by now; try again", showName(p.asked), showName(folder))
	}
	f := explainDisk(err)
	return turn.RefuseFor(f.code, err, "%s cannot be written: the folder %s could not be opened (%s)", showName(p.asked), showName(folder), f.words)
}

// moved reports whether the open folder is not any more where it was.
func (p *place) moved() bool {
	at, err := realPath(p.dir)
	return err != nil || at != p.at
}

// make makes the missing folders and opens the last one. It returns the real
// paths of those that it made, outermost first, also when it fails.
func (p *place) make(d disk) (made []string, err error) {
	for len(p.missing) > 0 {
		name := p.missing[0]
		err := d.makeDir(p.dir, name)
		if !errors.Is(err, unix.EEXIST) {
			made = append(made, below(p.at, name)) // also if it failed half-way
			if err == nil {
				err = d.syncDir(p.dir)
			}
			if err != nil {
				return made, err
			}
		}
		flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		var fd int
		if err := retry(func() (err error) { fd, err = unix.Openat(p.dir, name, flags, 0); return err }); err != nil {
			return made, err
		}
		unix.Close(p.dir)
		p.dir, p.at, p.missing = fd, below(p.at, name), p.missing[1:]
		if err := p.look(); err != nil {
			return made, err
		}
	}
	return made, nil
}

// removeMade removes folders that an action made, innermost first, as long as
// they are empty. Each is reached anew from the root of the file system.
func removeMade(d disk, view *protected.View, made []string) (removed int) {
	for i := len(made) - 1; i >= 0; i-- {
		p, err := enter(view, "/", made[i], made[i])
		if err != nil {
			return removed
		}
		gone := false
		if len(p.missing) > 0 {
			gone = true
		} else if err := d.removeDir(p.dir, p.name); err == nil {
			removed++
			// That it is gone matters less than what was done before: a sync that
			// fails here only means that an empty folder may come back.
			_ = d.syncDir(p.dir)
			gone = true
		} else {
			gone = errors.Is(err, unix.ENOENT)
		}
		p.close()
		if !gone {
			return removed
		}
	}
	return removed
}
