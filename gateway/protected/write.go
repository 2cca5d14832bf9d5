package protected

import (
	"path/filepath"
	"strings"
)

// DecideWrite answers for a change of one real path: absolute and clean, links
// resolved. It is stricter than Decide with Write in two ways: names that some
// file system takes for ".git" count as it, and with folds, which says that a
// file system on the way ignores case, so do all spellings of a rule's path.
func (v *View) DecideWrite(real string, folds bool) Decision {
	if d := v.Decide(real, Write); !d.Allowed {
		return d
	}
	for name := range strings.SplitSeq(real, "/") {
		if gitTwin(name) {
			return v.names.git.decide(Write)
		}
	}
	if !folds || v.goos == "darwin" {
		return (*rule)(nil).decide(Write)
	}
	return v.decideFolding(real)
}

// decideFolding goes down the tree of rules as a file system would that ignores
// case. It is slow, and for such file systems only.
func (v *View) decideFolding(real string) Decision {
	at := []*node{v.root}
	for name := range strings.SplitSeq(Fold(strings.Trim(real, "/")), "/") {
		var next []*node
		for _, n := range at {
			for key, c := range n.children {
				if Fold(key) == name {
					next = append(next, c)
				}
			}
			for _, g := range n.globs {
				if ok, err := filepath.Match(Fold(g.pattern), name); ok && err == nil && !n.opens(name) {
					next = append(next, g.node)
				}
			}
		}
		for _, n := range next {
			if n.closed != nil {
				return n.closed.decide(Write)
			}
			if n.locked != nil {
				return n.locked.decide(Write)
			}
		}
		at = next
	}
	return (*rule)(nil).decide(Write)
}

// opens reports whether a folded name is one that no glob here may cover.
func (n *node) opens(folded string) bool {
	for name := range n.open {
		if Fold(name) == folded {
			return true
		}
	}
	return false
}

// SameWrite answers for a change in or of a file or folder by its device and
// inode, when its path says nothing.
func (v *View) SameWrite(dev, ino uint64) Decision {
	if r := v.ids[identity{dev, ino}]; r != nil {
		return r.decide(Write)
	}
	return v.fixed[identity{dev, ino}].decide(Write)
}

// gitTwin reports names under which some file system finds ".git": the short
// name that Windows gives it, and names that differ only in what NTFS, FAT or
// HFS+ ignore.
func gitTwin(name string) bool {
	if len(name) < 4 {
		return false
	}
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name))
	name = strings.TrimRight(name, ". ")
	if short, ok := strings.CutPrefix(name, "git~"); ok && short != "" && strings.Trim(short, "0123456789") == "" {
		return true
	}
	return name == ".git"
}

// TooBroad says why a folder holds too much to be written as a whole: it holds
// the user's home, settings of many programs, or Deckhand's state. It returns
// "" if it does not. Files of the user's own lists, and programs on the PATH,
// may lie in it.
func (p *Paths) TooBroad(real string) string {
	for _, home := range []string{p.home, realPrefix(p.home)} {
		switch {
		case p.fold(real) == p.fold(home):
			return "it is the user's home"
		case inside(p.fold(home), p.fold(real)):
			return "it holds the user's home"
		}
	}
	for _, r := range p.rules {
		if r.holds == "" {
			continue
		}
		// Compared up to the first glob.
		pattern := r.pattern
		if i := strings.IndexAny(pattern, `*?[`); i >= 0 {
			pattern = pattern[:strings.LastIndexByte(pattern[:i], '/')+1] + "x"
		}
		for _, path := range []string{unescapeGlob(pattern), p.realHome(unescapeGlob(pattern))} {
			if path = p.fold(path); path != p.fold(real) && inside(path, p.fold(real)) {
				return r.holds
			}
		}
	}
	return ""
}

// realHome returns a path in the home as it is where links are resolved.
func (p *Paths) realHome(path string) string {
	if rest, ok := strings.CutPrefix(path, p.home+"/"); ok {
		return filepath.Join(realPrefix(p.home), rest)
	}
	return path
}

// fold returns the form in which paths are compared.
func (p *Paths) fold(path string) string {
	if p.goos == "darwin" {
		return Fold(path)
	}
	return path
}

// Fold returns the form under which a file system that ignores case and Unicode
// normalisation looks a name or path up.
func Fold(path string) string { return foldCase(path) }
