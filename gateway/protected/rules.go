package protected

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Rule is a rule as people are shown it.
type Rule struct {
	Kind   Kind   `json:"kind"`
	Reason string `json:"reason"`
	// Path is absolute, or begins with "~/" or "**/"; its components may be
	// globs.
	Path string `json:"path"`
	// Commands is what commands see of it.
	Commands Sight `json:"commands"`
	// Found is what it covers on this machine now, as far as that can be listed:
	// paths as they are, links not resolved. Rules with "**/" are not looked for.
	Found []string `json:"found"`
}

// sights are what commands see of what a rule about a place covers.
var sights = map[Kind]Sight{Hidden: Unseen, ReadOnly: Seen, Pseudo: OwnSight}

// Rules returns every rule, those of one reason together: the hidden ones, the
// read-only ones, then the places that hold no files.
func (p *Paths) Rules() []Rule {
	var all []Rule
	for _, r := range []*rule{p.names.git, p.names.env, p.names.envs, p.names.core, p.names.keepass} {
		sight := UnseenNear
		if r == p.names.git {
			sight = Seen
		}
		all = append(all, Rule{Kind: r.kind, Reason: r.reason, Path: r.spelled, Commands: sight, Found: []string{}})
	}
	others := Rule{Kind: Hidden, Reason: otherHomes.reason, Path: otherHomes.spelled, Commands: Unseen, Found: []string{}}
	for path, r := range p.View().places {
		if r == &otherHomes {
			others.Found = append(others.Found, path)
		}
	}
	slices.Sort(others.Found)
	all = append(all, others)
	for i := range p.rules {
		r := &p.rules[i]
		path := r.spelled
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") {
			path = unescapeGlob(r.pattern)
		}
		all = append(all, Rule{Kind: r.kind, Reason: r.reason, Path: path, Commands: sights[r.kind], Found: r.found()})
	}
	seen := map[[2]string]bool{}
	all = slices.DeleteFunc(all, func(r Rule) bool { // a PATH may name a folder twice
		key := [2]string{string(r.Kind), r.Path}
		defer func() { seen[key] = true }()
		return seen[key]
	})
	slices.SortStableFunc(all, func(a, b Rule) int { return position(a) - position(b) })
	return all
}

// position orders rules by their list, and within it as the table does; what the
// table does not have comes last.
func position(r Rule) int {
	kind := slices.Index([]Kind{Hidden, ReadOnly, Pseudo}, r.Kind)
	for i, g := range table {
		if g.kind == r.Kind && g.reason == r.Reason {
			return kind*2*len(table) + i
		}
	}
	return kind*2*len(table) + len(table)
}

// found returns what a rule's pattern names on the disk.
func (r *rule) found() []string {
	if isGlob(r.pattern) {
		// Only a malformed pattern is an error, and New refused those.
		found, _ := filepath.Glob(r.pattern)
		return append([]string{}, found...)
	}
	path := unescapeGlob(r.pattern)
	if _, err := os.Lstat(path); err != nil {
		return []string{}
	}
	return []string{path}
}
