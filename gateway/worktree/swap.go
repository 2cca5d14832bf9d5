package worktree

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// fileState is what stands at a path: enough to tell whether it is still the
// same. The zero value says that nothing does.
type fileState struct {
	// kind is "", "file", "link" or "other".
	kind string
	// sha256 is of a file's content, target is where a link leads.
	sha256, target string
	perm           fs.FileMode
	uid, gid       int
	links          uint64
}

// same compares what a merge cares for: content, and whether it is executable.
func (s fileState) same(o fileState) bool {
	return s.kind == o.kind && s.sha256 == o.sha256 && s.target == o.target && (s.kind != "file" || s.executable() == o.executable())
}

func (s fileState) executable() bool { return s.perm&0o100 != 0 }

// stateAt looks at one name in a directory, without following links and
// without waiting for pipes.
func stateAt(dir *os.Root, name string) (fileState, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	s := fileState{kind: "other", perm: info.Mode().Perm()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.uid, s.gid, s.links = int(st.Uid), int(st.Gid), uint64(st.Nlink)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		s.kind = "link"
		s.target, err = dir.Readlink(name)
		return s, err
	case info.Mode().IsRegular():
		s.kind = "file"
		f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return s, err
		}
		defer f.Close()
		if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
			return s, errors.Join(err, fmt.Errorf("%s changed while it was opened", name))
		}
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return s, err
		}
		s.sha256 = hex.EncodeToString(h.Sum(nil))
	}
	return s, nil
}

// errNotReal says that a parent is a link, or no directory.
var errNotReal = errors.New("a parent is not a real directory")

// parentOf opens the directory of a path below root, name by name: a symbolic
// link on the way is an error, wherever it leads. With made, missing ones are
// made and reported; otherwise a missing one is fs.ErrNotExist. The caller
// closes it.
func parentOf(root *os.Root, file string, made func(dir string)) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	dir := path.Dir(file)
	if dir == "." {
		return at, nil
	}
	walked := ""
	for name := range strings.SplitSeq(dir, "/") {
		walked = path.Join(walked, name)
		next, err := child(at, name, walked, made)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func child(at *os.Root, name, walked string, made func(dir string)) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && made != nil {
		if err := at.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
		made(walked)
		info, err = at.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotReal
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, errNotReal
	}
	return next, nil
}

// errMoved says that a file is not what was merged any more.
var errMoved = errors.New("the file changed since it was compared")

// put writes the file or link that now describes over what stands at name, if
// that still is was. content is read for a file. The temporary file's name begins
// with prefix.
func put(dir *os.Root, name, prefix string, was, now fileState, content io.Reader) (err error) {
	temp := prefix + strings.ToLower(rand.Text())
	defer func() {
		if err != nil {
			dir.Remove(temp)
		}
	}()
	if now.kind == "link" {
		if err := dir.Symlink(now.target, temp); err != nil {
			return err
		}
	} else if err := writeTemp(dir, temp, now, content); err != nil {
		return err
	}
	found, err := stateAt(dir, name)
	if err != nil {
		return err
	}
	if found != was {
		return errMoved
	}
	if was.kind == "" {
		// A link fails where a file has appeared; a rename would replace it.
		switch err := dir.Link(temp, name); {
		case err == nil:
			if err := dir.Remove(temp); err != nil {
				return err
			}
			return syncRoot(dir)
		case errors.Is(err, fs.ErrExist):
			return errMoved
		}
		// Some file systems have no hard links.
	}
	if err := dir.Rename(temp, name); err != nil {
		return err
	}
	return syncRoot(dir)
}

// anyone, as the owner of a fileState, says that a file will be a new one: its
// owner is who makes it, and its mode is cut by the umask.
const anyone = -1

// after gives the state of a file that is was and becomes next: who may read it
// may run it when it becomes executable, and the rest of its mode stays, as
// does its owner.
func (was fileState) after(next fileState) fileState {
	if next.kind != "file" {
		return next
	}
	next.uid, next.gid = was.uid, was.gid
	switch {
	case was.kind != "file":
		next.uid, next.gid = anyone, anyone
		next.perm |= 0o666
	case was.executable() == next.executable():
		next.perm = was.perm
	case next.executable():
		next.perm = was.perm | (was.perm&0o444)>>2
	default:
		next.perm = was.perm &^ 0o111
	}
	return next
}

// writeTemp writes and syncs new content under its temporary name, with the
// mode and the owner that it will have.
func writeTemp(dir *os.Root, temp string, now fileState, content io.Reader) error {
	perm := now.perm
	if now.uid != anyone {
		perm = 0o600
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), content); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != now.sha256 {
		return errMoved
	}
	if now.uid != anyone {
		if now.uid != os.Geteuid() || now.gid != os.Getegid() {
			if err := f.Chown(now.uid, now.gid); err != nil {
				return err
			}
		}
		if err := f.Chmod(now.perm); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// drop removes what stands at name, if that still is was.
func drop(dir *os.Root, name string, was fileState) error {
	found, err := stateAt(dir, name)
	if err != nil {
		return err
	}
	if found != was {
		return errMoved
	}
	if err := dir.Remove(name); err != nil {
		return err
	}
	return syncRoot(dir)
}

// syncRoot makes the names in a directory durable.
func syncRoot(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
