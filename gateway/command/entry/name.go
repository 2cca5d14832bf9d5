package entry

import (
	"path"
	"slices"
	"strings"
)

// location is a program as a caller wrote it.
type location struct {
	// name is its last component, in lower case.
	name string
	// path is the whole of it, clean and in lower case; "" for a bare name.
	path string
	// tool says that it is looked up on the PATH, or lies where the system or
	// the user keeps programs: it is what its name says.
	tool bool
}

func locate(program string) location {
	lower := strings.ToLower(program)
	if !strings.Contains(lower, "/") {
		return location{name: lower, tool: true}
	}
	clean := path.Clean(lower)
	return location{name: path.Base(clean), path: clean, tool: toolFolder(path.Dir(clean))}
}

// roots hold a bin, an sbin or a libexec of the system.
var roots = []string{"", "/usr", "/usr/local", "/usr/pkg", "/opt/local", "/run/current-system/sw", "/var/run/current-system/sw"}

// trees hold nothing but programs of the system.
var trees = []string{"/usr/lib", "/usr/libexec", "/opt/homebrew", "/home/linuxbrew/.linuxbrew", "/nix", "/snap", "/system", "/library", "/applications", "/lib", "/lib64", "/etc/alternatives"}

// toolFolder reports whether a clean folder in lower case is one of the system's,
// or of the tools that somebody installed for themselves. A path that leads up
// first may end anywhere, so what comes after counts as if it began at the root.
func toolFolder(dir string) bool {
	if rest, ok := strings.CutPrefix(dir, "/proc/"); ok {
		// /proc/self/root/usr/bin and its like: any process, any thread.
		_, rest, _ = strings.Cut(rest, "/root/")
		dir = "/" + rest
	}
	if up := strings.TrimLeft(dir, "./"); strings.HasPrefix(dir, "../") {
		dir = "/" + up
	}
	last := path.Base(dir)
	programs := last == "bin" || last == "sbin" || last == "libexec" || last == "games"
	if programs && slices.Contains(roots, strings.TrimSuffix(path.Dir(dir), "/")) {
		return true
	}
	for _, tree := range trees {
		if dir == tree || strings.HasPrefix(dir, tree+"/") {
			return true
		}
	}
	// ~/.local/bin, ~/.cargo/bin, node_modules/.bin, .venv/bin.
	return (programs || last == ".bin") && slices.ContainsFunc(strings.Split(dir, "/"), func(name string) bool {
		return strings.HasPrefix(name, ".") && strings.Trim(name, ".") != ""
	})
}

// leadsOut reports whether a path is not one below the working directory.
func (l location) leadsOut() bool {
	return strings.HasPrefix(l.path, "/") || strings.HasPrefix(l.path, "../")
}
