package protected

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sight is what a command sees of a path.
type Sight string

const (
	// Seen: commands see it, read-only.
	Seen Sight = "seen"
	// Unseen: it is hidden from commands, or would be if it were there.
	Unseen Sight = "hidden"
	// UnseenNear: it is hidden from commands that run in its folder, or in a
	// folder below it that belongs to the same session; elsewhere nobody looks
	// for such files.
	UnseenNear Sight = "hidden_in_its_folder"
	// Denied: the operating system keeps it from this user and so from commands.
	Denied Sight = "denied_by_system"
	// OwnSight: commands have something of their own there.
	OwnSight Sight = "own"
)

// Explanation is everything there is to say about one path.
type Explanation struct {
	// Path is the path as it was asked for, made absolute; Real is it with links
	// resolved as far as something is there.
	Path string `json:"path"`
	Real string `json:"real_path"`
	// Exists is about what Path leads to. Link says that Path itself is a link,
	// which the file tools refuse in favour of Real.
	Exists bool `json:"exists"`
	Link   bool `json:"symbolic_link"`
	// Names is how many names a file has, 0 for anything else. With more than
	// one it is not written.
	Names uint64 `json:"names"`
	// Rule is the rule that decides, "" if there is none.
	Rule string `json:"rule"`
	Kind Kind   `json:"kind"`
	// Why is one sentence without a full stop, "" if Kind is Open.
	Why   string `json:"reason"`
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
	// Commands is what commands see; Cover is the folder or file that is hidden
	// from them for it, "" if none is.
	Commands Sight  `json:"commands"`
	Cover    string `json:"hidden_with,omitempty"`
}

// Explain decides about a path as a person names it: absolute, links and dots
// not resolved, there or not. An error is about the path or the disk.
func (p *Paths) Explain(path string) (Explanation, error) {
	if !filepath.IsAbs(path) || strings.Contains(path, "\x00") {
		return Explanation{}, fmt.Errorf("%q is not an absolute path", path)
	}
	e := Explanation{Path: path, Real: follow(path, 40)}
	if info, err := os.Lstat(path); err == nil {
		e.Link = info.Mode()&fs.ModeSymlink != 0
	}
	info, err := os.Lstat(e.Real)
	e.Exists = err == nil
	if e.Exists && info.Mode().IsRegular() {
		e.Names = links(info)
	}
	v := p.viewUnless(func(v *View) bool { return v.old() || v.changed() })
	d := wholly(e.Real, v.DecideWrite(e.Real, false), v.SameWrite)
	e.Kind, e.Rule, e.Why = d.Kind, d.Rule, d.Reason
	e.Write = d.Allowed && e.Names <= 1
	e.Read = wholly(e.Real, v.Decide(e.Real, Read), v.Same).Allowed
	e.Commands, e.Cover, err = p.sight(v, e.Real)
	return e, err
}

// wholly adds to the decision about a real path what it and the folders around
// it are, whatever they are called: a hidden one decides before all others.
func wholly(real string, d Decision, same func(dev, ino uint64) Decision) Decision {
	for at := real; d.Kind != Hidden && d.Kind != Pseudo; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil {
			id := identify(info)
			if s := same(id.dev, id.ino); !s.Allowed && (d.Allowed || s.Kind == Hidden) {
				d = s
			}
		}
		if at == "/" {
			break
		}
	}
	return d
}

// sight says what commands see of a real path.
func (p *Paths) sight(v *View, real string) (Sight, string, error) {
	r := v.At(real).closed
	switch {
	case r != nil && r.kind == Pseudo:
		return OwnSight, "", nil
	case deniedOnTheWay(real):
		return Denied, "", nil
	case r != nil && (r == v.names.env || r == v.names.envs || r == v.names.core || r == v.names.keepass):
		return UnseenNear, "", nil
	}
	list, err := p.Screen()
	if err != nil {
		return "", "", err
	}
	for _, cover := range list {
		if inside(real, cover) {
			return Unseen, cover, nil
		}
	}
	if r != nil && r != v.names.git {
		return Unseen, "", nil
	}
	return Seen, "", nil
}

// deniedOnTheWay reports whether the operating system keeps a path, or a folder
// around it, from this user.
func deniedOnTheWay(path string) bool {
	for ; path != "/"; path = filepath.Dir(path) {
		if denied(path) {
			return true
		}
	}
	return false
}

// follow resolves the links of a path as far as something is there, also where
// the last one leads to nothing. Dots count after links are resolved.
func follow(path string, depth int) string {
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if target, err := os.Readlink(at); err == nil && depth > 0 {
			if !filepath.IsAbs(target) {
				target = at[:strings.LastIndexByte(at, '/')+1] + target
			}
			return follow(strings.TrimSuffix(target+"/"+rest, "/"), depth-1)
		}
		at = strings.TrimRight(at, "/")
		i := strings.LastIndexByte(at, '/')
		if i <= 0 {
			return filepath.Clean(path)
		}
		at, rest = at[:i], filepath.Join(at[i+1:], rest)
	}
}
