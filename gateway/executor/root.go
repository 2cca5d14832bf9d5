package executor

import (
	"path/filepath"
	"strings"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// broadRoots are folders of the system: too much lies below each of them to be
// one session's to write. Below those with a slash at the end everything is the
// system's.
var broadRoots = []string{
	"/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/lost+found/", "/proc/", "/sbin/", "/snap/", "/sys/", "/nix/", "/cores/",
	"/System/", "/Library/", "/Applications/", "/private/etc/", "/private/var/db/",
	"/home", "/Users", "/Users/Shared", "/root", "/media", "/mnt", "/opt", "/opt/homebrew", "/run", "/run/media", "/srv", "/tmp", "/usr", "/usr/local", "/var", "/var/home", "/var/tmp", "/var/lib", "/var/log/", "/var/cache", "/var/spool/", "/Volumes", "/Network", "/private", "/private/tmp", "/private/var", "/private/var/tmp", "/private/var/folders",
	"/usr/include/", "/usr/share/", "/usr/lib/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/usr/local/lib/", "/usr/local/share", "/usr/local/etc", "/usr/src",
}

// broadParents are folders whose entries are whole disks.
var broadParents = []string{"/Volumes", "/media/*", "/run/media/*"}

const chooseProject = "choose the folder of one project instead, or make a new folder for it"

// CheckRoot says whether a real path may be the write root of a session: an
// existing folder that is one project's, not the system's, a home or
// Deckhand's. Errors are *turn.Refusal and say what to choose instead.
func (e *Executor) CheckRoot(real string) error {
	if !filepath.IsAbs(real) || filepath.Clean(real) != real {
		return turn.Refuse(turn.WorkingDirectoryInvalid, "%s is not a clean absolute path", showName(real))
	}
	broad := func(why string) error {
		return turn.Refuse(turn.WriteRootTooBroad, "%s cannot be a write root: %s; %s", showName(real), why, chooseProject)
	}
	if real == "/" {
		return broad("it holds the whole computer")
	}
	for _, root := range broadRoots {
		dir, whole := strings.CutSuffix(root, "/")
		if protected.Fold(real) == protected.Fold(dir) || whole && insideOf(protected.Fold(real), protected.Fold(dir)) {
			return broad("it is a folder of the system")
		}
	}
	for _, parent := range broadParents {
		if ok, err := filepath.Match(parent, filepath.Dir(real)); err == nil && ok {
			return broad("it is a whole disk")
		}
	}
	if why := e.protected.TooBroad(real); why != "" {
		return broad(why)
	}
	view := e.protected.View()
	if err := decideWrite(view, real, real, false); err != nil {
		return err
	}
	return e.checkRootFolder(view, real)
}

// checkRootFolder looks at the folder itself.
func (e *Executor) checkRootFolder(view *protected.View, real string) error {
	p, err := enter(view, "/", below(real, "x"), real)
	if err != nil {
		return err
	}
	defer p.close()
	if len(p.missing) > 0 {
		return turn.Refuse(turn.WorkingDirectoryInvalid, "%s does not exist", showName(real))
	}
	if fileSystemOf(p.dir) == pseudoFileSystem {
		return turn.Refuse(turn.PseudoFileSystem, "%s lies in a kernel or device file system", showName(real))
	}
	root, err := enter(view, "/", "/x", "/")
	if err != nil {
		return err
	}
	defer root.close()
	if p.info.dev == root.info.dev && p.info.ino == root.info.ino {
		return turn.Refuse(turn.WriteRootTooBroad, "%s is / under another name; %s", showName(real), chooseProject)
	}
	return nil
}
