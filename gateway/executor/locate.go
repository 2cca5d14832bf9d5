package executor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// located is a file or folder that a path led to: an open descriptor, where it
// really is, and the decision that it may be read.
type located struct {
	// fd is open for naming only (O_PATH) where the system has that, else for
	// reading. It is never open on a device, a FIFO or a socket.
	fd   int
	info fileInfo
	// real is the path of fd as the kernel spells it: no links, no dots.
	real string
}

func (l *located) close() { unix.Close(l.fd) }

// fileInfo is what is needed of a stat.
type fileInfo struct {
	dev, ino uint64
	links    uint64
	size     int64
	kind     fileKind
	// remote says that the contents are in the cloud only and reading would
	// fetch them.
	remote bool
}

type fileKind uint8

const (
	unknownKind fileKind = iota
	regularFile
	directory
	symlink
	specialFile
)

func (k fileKind) String() string {
	switch k {
	case directory:
		return "a folder"
	case specialFile:
		return "a device, FIFO or socket"
	}
	return "not a regular file"
}

func infoOf(st *unix.Stat_t) fileInfo {
	i := fileInfo{dev: uint64(st.Dev), ino: st.Ino, links: uint64(st.Nlink), size: st.Size, kind: specialFile, remote: isRemote(st)}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		i.kind = regularFile
	case unix.S_IFDIR:
		i.kind = directory
	case unix.S_IFLNK:
		i.kind = symlink
	}
	return i
}

// errMoved says that what was opened was gone from its place a moment later.
var errMoved = errors.New("moved while it was opened")

// locate opens an absolute clean path without any effect on what is there,
// finds out where it really is, and asks whether it may be read. A link as the
// last component is refused unless follow is set. Errors are *turn.Refusal with
// a sentence that tells no more about a protected place than that it is one.
func locate(view *protected.View, path string, follow bool) (*located, error) {
	if err := decide(view, path, path); err != nil {
		return nil, err
	}
	for range 3 {
		l, err := tryLocate(view, path, follow)
		if errors.Is(err, errMoved) {
			continue
		}
		return l, err
	}
	return nil, turn.Refuse(turn.NotFound, "%s is being moved about; try again", showName(path))
}

func tryLocate(view *protected.View, path string, follow bool) (*located, error) {
	fd, info, err := openQuietly(path, follow)
	if err != nil {
		return nil, explainOpen(view, path, err)
	}
	l := &located{fd: fd, info: info}
	if err := l.admit(view, path); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// admit finds the real path of an open descriptor and decides.
func (l *located) admit(view *protected.View, asked string) error {
	real, err := realPath(l.fd)
	if err != nil {
		return turn.RefuseFor(turn.IOError, err, "%s could not be traced to where it really is", showName(asked))
	}
	l.real = real
	if err := decide(view, real, asked); err != nil {
		return err
	}
	if l.info.kind == symlink {
		return refuseLink(view, real, asked)
	}
	if d := view.Same(l.info.dev, l.info.ino); !d.Allowed {
		return refuseProtected(asked, d)
	}
	if k := fileSystemOf(l.fd); k == pseudoFileSystem {
		return turn.Refuse(turn.PseudoFileSystem, "%s lies in a kernel or device file system, which file tools do not read", showName(asked))
	}
	return l.verify(view, asked)
}

// verify walks down the real path once more: each folder on it must be one that
// is not hidden under another name, and its end must be what is open. The first
// keeps a bind mount of a hidden folder closed; the second catches a path that
// the kernel reported for a file that was deleted or moved just then.
func (l *located) verify(view *protected.View, asked string) error {
	for i := 1; i <= len(l.real); i++ {
		if i < len(l.real) && l.real[i] != '/' {
			continue
		}
		var st unix.Stat_t
		if err := unix.Lstat(l.real[:i], &st); err != nil {
			if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
				return explainOpen(view, asked, err)
			}
			return errMoved
		}
		info := infoOf(&st)
		if i == len(l.real) {
			if info.dev != l.info.dev || info.ino != l.info.ino {
				return errMoved
			}
			return nil
		}
		if info.kind != directory {
			return errMoved
		}
		if d := view.Same(info.dev, info.ino); !d.Allowed {
			return refuseProtected(asked, d)
		}
	}
	return nil
}

// decide refuses a path that a rule covers; asked is how the caller wrote it.
func decide(view *protected.View, path, asked string) error {
	if d := view.Decide(path, protected.Read); !d.Allowed {
		return refuseProtected(asked, d)
	}
	return nil
}

func refuseProtected(asked string, d protected.Decision) error {
	if d.Kind == protected.Pseudo {
		return turn.Refuse(turn.PseudoFileSystem, "%s cannot be read by file tools: %s", showName(asked), d.Reason)
	}
	return turn.Refuse(turn.ProtectedPath, "%s is protected (%s): %s. Go on without it; the user decides what is protected", showName(asked), d.Rule, d.Reason)
}

// refuseLink refuses a link and names where it leads, unless that is nobody's
// business.
func refuseLink(view *protected.View, link, asked string) error {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		// It dangles, loops, or leads where this user may not look. Where its
		// words lead may still be protected.
		words, err := os.Readlink(link)
		if err != nil {
			return errMoved
		}
		if !filepath.IsAbs(words) {
			words = filepath.Join(filepath.Dir(link), words)
		}
		target = existingPrefix(filepath.Clean(words))
		if err := decide(view, target, asked); err != nil {
			return err
		}
		return turn.Refuse(turn.SymlinkRefused, "%s is a symbolic link to %s, which cannot be opened", showName(asked), showName(target))
	}
	if err := decide(view, target, asked); err != nil {
		return err
	}
	return turn.Refuse(turn.SymlinkRefused, "%s is a symbolic link to %s; use that path", showName(asked), showName(target))
}

// existingPrefix resolves the links of the part of path that can be resolved.
func existingPrefix(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == "/" {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// explainOpen turns the error of an open into a refusal. Whether something
// exists in a protected place is not told either.
func explainOpen(view *protected.View, path string, err error) error {
	if errors.Is(err, errMoved) {
		return err
	}
	if err := decide(view, existingPrefix(path), path); err != nil {
		return err
	}
	name := showName(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		parent := filepath.Dir(path)
		for parent != "/" {
			info, err := os.Stat(parent)
			if err == nil && !info.IsDir() {
				return turn.Refuse(turn.NotADirectory, "%s does not exist: %s is not a folder", name, showName(parent))
			}
			if err == nil {
				break
			}
			parent = filepath.Dir(parent)
		}
		return turn.Refuse(turn.NotFound, "%s does not exist; the nearest folder that does is %s", name, showName(parent))
	case errors.Is(err, fs.ErrPermission):
		return turn.RefuseFor(turn.OSPermissionDenied, err, "the operating system does not let this user open %s; only the user can change that", name)
	case errors.Is(err, unix.ELOOP):
		return turn.Refuse(turn.SymlinkRefused, "the links on the way to %s lead in a circle", name)
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return turn.Refuse(turn.NotARegularFile, "%s is %s; only regular files can be read", name, specialFile)
	}
	text := "unknown error"
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		text = errno.Error()
	}
	return turn.RefuseFor(turn.IOError, err, "%s could not be opened: %s", name, text)
}

// locateDirectory finds the folder that a search starts from. Links to it are
// followed: what counts is where it really is.
func locateDirectory(view *protected.View, path string) (*located, error) {
	l, err := locate(view, path, true)
	if err != nil {
		return nil, err
	}
	if l.info.kind != directory {
		l.close()
		return nil, turn.Refuse(turn.NotADirectory, "%s is %s; name the folder it lies in and give its name as pattern", showName(path), fileWord(l.info.kind))
	}
	return l, nil
}

func fileWord(k fileKind) string {
	if k == regularFile {
		return "a file"
	}
	return k.String()
}

// locateFile finds a file to read.
func locateFile(view *protected.View, path string) (*located, error) {
	l, err := locate(view, path, false)
	if err != nil {
		return nil, err
	}
	switch l.info.kind {
	case regularFile:
		return l, nil
	case directory:
		err = turn.Refuse(turn.NotARegularFile, "%s is a folder; FindFiles lists what is in it", showName(path))
	default:
		err = turn.Refuse(turn.NotARegularFile, "%s is %s; only regular files can be read", showName(path), l.info.kind)
	}
	l.close()
	return nil, err
}

// retry calls f until it is not interrupted by a signal.
func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// below joins a relative path that may be empty to a real folder.
func below(dir, rel string) string {
	if rel == "" {
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + rel
}
