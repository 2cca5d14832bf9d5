package protected

import (
	"path/filepath"
	"strings"
	"time"
)

// View is the rules against one state of the disk. It never changes and is
// safe for concurrent use.
type View struct {
	goos  string
	names *nameRules
	root  *node
	// ids are folders that are hidden, and files in them that have further
	// names elsewhere.
	ids map[identity]*rule
	// fixed are folders and files that are read-only, whatever they are called.
	fixed map[identity]*rule
	// places are what is hidden and was there, by real path; gather are folders
	// that may stand for what is hidden in them.
	places map[string]*rule
	gather []string
	// stamps are the folders in which rules look for something, as they were
	// before that was done at made.
	stamps []stamp
	made   time.Time
}

// identity is a file or folder whatever it is called.
type identity struct{ dev, ino uint64 }

// node is one component on the way to some rules.
type node struct {
	children map[string]*node
	globs    []globChild
	// open names the children that no glob here may cover.
	open map[string]bool
	// closed covers this place and all below against reading, locked against
	// writing. Both may be nil.
	closed, locked *rule
}

type globChild struct {
	pattern string
	node    *node
}

// Place is a folder or file as far as the rules go, reached from the root name
// by name. The zero Place is not valid; View.At and Place.Child make them.
type Place struct {
	view *View
	// at are the nodes whose children still matter below.
	at             []*node
	closed, locked *rule
}

// Decide answers for one real path: absolute and clean, links resolved.
func (v *View) Decide(real string, access Access) Decision { return v.At(real).Decide(access) }

// At goes to a real path: absolute and clean, links resolved.
func (v *View) At(real string) Place {
	p := Place{view: v, at: []*node{v.root}}
	for name := range strings.SplitSeq(real, "/") {
		if name != "" {
			p = p.Child(name)
		}
	}
	return p
}

// Child goes one name further. It does not allocate where no rule is near.
func (p Place) Child(name string) Place {
	if p.closed == nil {
		p.closed = p.view.names.match(name)
	}
	if len(p.at) == 0 {
		return p
	}
	if p.view.goos == "darwin" {
		name = foldCase(name)
	}
	var next []*node
	for _, n := range p.at {
		if c := n.children[name]; c != nil {
			next = append(next, c)
		}
		if n.open[name] {
			continue
		}
		for _, g := range n.globs {
			if ok, err := filepath.Match(g.pattern, name); ok && err == nil {
				next = append(next, g.node)
			}
		}
	}
	p.at = next
	for _, n := range next {
		if p.closed == nil {
			p.closed = n.closed
		}
		if p.locked == nil {
			p.locked = n.locked
		}
	}
	return p
}

// Decide answers for the place itself.
func (p Place) Decide(access Access) Decision {
	if p.closed != nil {
		return p.closed.decide(access)
	}
	return p.locked.decide(access)
}

// Same answers for a file or folder by its device and inode, when its path says
// nothing: a hidden folder under a second name, or a file of one under a second
// name (hard link). It knows what the bounded survey found.
func (v *View) Same(dev, ino uint64) Decision {
	return v.ids[identity{dev, ino}].decide(Read)
}

// insert adds a rule for an absolute pattern.
func (v *View) insert(pattern string, r *rule) {
	n := v.root
	for name := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		n = n.child(name, v.goos == "darwin")
	}
	switch {
	case r.kind == ReadOnly && n.locked == nil:
		n.locked = r
	case r.kind != ReadOnly && n.closed == nil:
		n.closed = r
	}
}

func (n *node) child(name string, fold bool) *node {
	if fold {
		name = foldCase(name)
	}
	if isGlob(name) {
		for _, g := range n.globs {
			if g.pattern == name {
				return g.node
			}
		}
		c := &node{}
		n.globs = append(n.globs, globChild{name, c})
		return c
	}
	name = unescapeGlob(name)
	if n.children[name] == nil {
		if n.children == nil {
			n.children = map[string]*node{}
		}
		n.children[name] = &node{}
	}
	return n.children[name]
}

// isGlob reports whether a pattern matches more than one name.
func isGlob(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return true
		case '\\':
			i++
		}
	}
	return false
}

// unescapeGlob undoes escapeGlob.
func unescapeGlob(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}
