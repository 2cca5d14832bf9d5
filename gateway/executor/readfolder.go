package executor

import (
	"slices"
	"strings"
)

// gather collects the smallest keys of a folder from a given key on, at most
// part of them however large the folder is.
type gather struct {
	from    string
	part    int
	entries []entry
	// dropped says that keys above bound were seen and not kept.
	dropped bool
	bound   string
}

func (g *gather) add(key string, kind fileKind) {
	if key < g.from || g.dropped && key >= g.bound {
		return
	}
	g.entries = append(g.entries, entry{key: key, kind: kind})
	if len(g.entries) >= 2*g.part {
		g.shrink()
	}
}

func (g *gather) shrink() {
	slices.SortFunc(g.entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	if len(g.entries) > g.part {
		g.dropped, g.bound = true, g.entries[g.part].key
		clear(g.entries[g.part:])
		g.entries = g.entries[:g.part]
	}
}

// done returns the entries in order, and the key that the next part begins
// with, or "".
func (g *gather) done() ([]entry, string) {
	g.shrink()
	if g.dropped {
		return g.entries, g.bound
	}
	return g.entries, ""
}
