package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Network is what a confined process can reach.
type Network int

const (
	// NoNetwork: an empty network namespace, and no socket can be made in it.
	NoNetwork Network = iota
	// PrivateLoopback: TCP and UDP over 127.0.0.1 and ::1 of its own. Nothing
	// of the host, nor of another sandbox, listens there.
	PrivateLoopback
)

// View is what of the host's file system a confined process sees.
type View int

const (
	// BaseSystem: the base system and the paths of the Policy, nothing else.
	// For Claude Code.
	BaseSystem View = iota
	// WholeSystem: everything that the user sees, read-only, but Hidden, and but
	// private and empty /tmp, /var/tmp, /run and /dev and a fresh /proc. For
	// commands.
	WholeSystem
)

// Policy says what a confined process may see and do. The zero value allows
// nothing but the base system, read-only.
//
// Paths are absolute, clean, exist, and have no symlink in them: a path that
// would be resolved on the way is refused, because mounting through it could
// end somewhere else than was meant. A path inside a Writable one is refused
// for the same reason: the process could change it under the next start.
type Policy struct {
	View View
	// ReadOnly are host files and directories shown read-only in place. In the
	// whole system they are shown anyway, unless they are one of the private
	// places or below one: then this brings them back.
	ReadOnly []string
	// Writable are host directories shown writable in place.
	Writable []string
	// Hidden are host files and directories of the whole system that nobody may
	// open (EACCES): a directory is there with mode 000, and in the place of
	// anything else is a device that cannot be opened. None may be inside
	// another, nor anything of the Policy inside one. Those in a private place
	// are not there at all, unless ReadOnly shows them.
	Hidden  []string
	Network Network
	// Listen is a TCP port, 1024 to 65535, that is open on 127.0.0.1 before the
	// command starts; Process.Listener serves it. It needs PrivateLoopback. 0
	// opens nothing. Where there are no network namespaces the port is the
	// host's and only a wish: Process.Addr tells the real one.
	Listen int
}

// Paths that the base system takes. A policy may not show the host's.
var reserved = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc", "/proc", "/sys", "/dev", "/tmp", "/run"}

// Trees of which a policy may show nothing: they are the kernel's.
var kernelTrees = []string{"/proc", "/sys", "/dev"}

// check refuses a policy that cannot be enforced exactly as it reads.
func (p Policy) check() error {
	switch {
	case p.View != BaseSystem && p.View != WholeSystem:
		return fmt.Errorf("unknown view %d", p.View)
	case p.Network != NoNetwork && p.Network != PrivateLoopback:
		return fmt.Errorf("unknown network %d", p.Network)
	case p.Listen != 0 && p.Network != PrivateLoopback:
		return errors.New("a port to listen on needs the private loopback")
	case p.Listen != 0 && (p.Listen < 1024 || p.Listen > 65535):
		return fmt.Errorf("port %d is not in 1024 to 65535", p.Listen)
	case len(p.Hidden) > 0 && p.View != WholeSystem:
		return errors.New("only of the whole system can something be hidden")
	case len(p.Hidden) > MaxHidden: // in the file of each system
		return fmt.Errorf("%d paths are hidden, more than %d", len(p.Hidden), MaxHidden)
	}
	for _, path := range p.ReadOnly {
		if err := checkPath(path); err != nil {
			return err
		}
		// Of the whole system this only says what is so anyway.
		if p.View == BaseSystem {
			if err := checkPlace(path); err != nil {
				return err
			}
		}
	}
	for _, path := range slices.Concat(p.Writable, p.Hidden) {
		if err := errors.Join(checkPath(path), checkPlace(path)); err != nil {
			return err
		}
	}
	for _, dir := range p.Writable {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is writable and not a directory", dir)
		}
	}
	return p.checkPairs()
}

// checkPairs refuses paths of which one would undo the other.
func (p Policy) checkPairs() error {
	all := slices.Concat(p.ReadOnly, p.Writable, p.Hidden)
	closed := func(i int) (string, bool) {
		switch {
		case i < len(p.ReadOnly):
			return "", false
		case i < len(p.ReadOnly)+len(p.Writable):
			return "writable", true
		default:
			return "hidden", true
		}
	}
	for i, a := range all {
		kind, ok := closed(i)
		for j, b := range all {
			if i == j {
				continue
			}
			if a == b {
				return fmt.Errorf("%s stands in the policy twice", a)
			}
			if ok && inside(b, a) {
				return fmt.Errorf("%s is inside the %s %s", b, kind, a)
			}
		}
	}
	return nil
}

// checkPath refuses a path that does not lead straight to something, and those
// of the kernel's trees.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
		return fmt.Errorf("%q is not a clean absolute path", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if real != path {
		return fmt.Errorf("%s leads through a symlink to %s", path, real)
	}
	for _, k := range kernelTrees {
		if path == k || inside(path, k) {
			return fmt.Errorf("%s is the kernel's", path)
		}
	}
	return nil
}

// checkPlace refuses a path that would take the place of the base system's.
func checkPlace(path string) error {
	for _, r := range reserved {
		if path == r || inside(r, path) {
			return fmt.Errorf("%s would replace %s of the base system", path, r)
		}
	}
	return nil
}

// inside reports whether path is strictly below dir. Both are clean.
func inside(path, dir string) bool {
	if dir == "/" {
		return path != "/"
	}
	return strings.HasPrefix(path, dir+"/")
}
