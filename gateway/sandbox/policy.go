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

// Policy says what a confined process may see and do. The zero value allows
// nothing but the base system, read-only.
//
// Paths are absolute, clean, exist, and have no symlink in them: a path that
// would be resolved on the way is refused, because mounting through it could
// end somewhere else than was meant. A path inside a Writable one is refused
// for the same reason: the process could change it under the next start.
type Policy struct {
	// ReadOnly are host files and directories shown read-only in place.
	ReadOnly []string
	// Writable are host directories shown writable in place.
	Writable []string
	Network  Network
	// Listen is a TCP port, 1024 to 65535, that is open on 127.0.0.1 before the
	// command starts; Process.Listener serves it. It needs PrivateLoopback. 0
	// opens nothing. Where there are no network namespaces the port is the
	// host's and only a wish: Process.Addr tells the real one.
	Listen int
}

// stageDir holds the stage in the sandbox.
const stageDir = "/.deckhand"

// Paths that the base system takes. A policy may not show the host's.
var reserved = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc", "/proc", "/sys", "/dev", "/tmp", "/run", stageDir}

// Trees of which a policy may show nothing: they are the kernel's.
var kernelTrees = []string{"/proc", "/sys", "/dev"}

// check refuses a policy that cannot be enforced exactly as it reads.
func (p Policy) check() error {
	switch {
	case p.Network != NoNetwork && p.Network != PrivateLoopback:
		return fmt.Errorf("unknown network %d", p.Network)
	case p.Listen != 0 && p.Network != PrivateLoopback:
		return errors.New("a port to listen on needs the private loopback")
	case p.Listen != 0 && (p.Listen < 1024 || p.Listen > 65535):
		return fmt.Errorf("port %d is not in 1024 to 65535", p.Listen)
	}
	for _, path := range p.paths() {
		if err := checkPath(path); err != nil {
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
	for i, a := range p.paths() {
		for j, b := range p.paths() {
			if i == j {
				continue
			}
			if a == b {
				return fmt.Errorf("%s stands in the policy twice", a)
			}
			if inside(b, a) && slices.Contains(p.Writable, a) {
				return fmt.Errorf("%s is inside the writable %s", b, a)
			}
		}
	}
	return nil
}

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
	for _, r := range reserved {
		if path == r || inside(r, path) {
			return fmt.Errorf("%s would replace %s of the base system", path, r)
		}
	}
	for _, k := range kernelTrees {
		if inside(path, k) {
			return fmt.Errorf("%s is the kernel's", path)
		}
	}
	return nil
}

// paths returns all of them, parents before children.
func (p Policy) paths() []string {
	all := slices.Concat(p.ReadOnly, p.Writable)
	slices.Sort(all)
	return all
}

// inside reports whether path is strictly below dir. Both are clean.
func inside(path, dir string) bool {
	if dir == "/" {
		return path != "/"
	}
	return strings.HasPrefix(path, dir+"/")
}
