package protected

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// nameRules are the rules about one name at any depth.
type nameRules struct {
	git, env, envs, core, keepass *rule
}

// add takes r if it is such a rule and reports whether it did.
func (n *nameRules) add(r *rule) bool {
	switch r.spelled {
	case GitRule:
		n.git = r
	case envRule:
		n.env = r
	case envRules:
		n.envs = r
	case coreRule:
		n.core = r
	case keepassRule:
		n.keepass = r
	default:
		return false
	}
	return true
}

// match returns the rule that covers name, or nil. It is called for each entry
// of each folder of a search, so the usual name leaves it after two looks.
func (n *nameRules) match(name string) *rule {
	if name == "" {
		return nil
	}
	switch name[0] {
	case '.':
		switch lower := foldCase(name); {
		case lower == ".git":
			return n.git
		case lower == ".env":
			return n.env
		case strings.HasPrefix(lower, ".env."):
			switch lower[strings.LastIndexByte(lower, '.')+1:] {
			case "example", "sample", "template":
				return nil
			}
			return n.envs
		}
	case 'c', 'C':
		if len(name) > 5 && strings.EqualFold(name[:5], "core.") && strings.Trim(name[5:], "0123456789") == "" {
			return n.core
		}
	}
	if c := name[len(name)-1]; (c == 'x' || c == 'X') && len(name) > 5 && strings.EqualFold(name[len(name)-5:], ".kdbx") {
		return n.keepass
	}
	return nil
}

// foldCase returns the form of a name under which a file system that ignores
// case and Unicode normalisation looks it up.
func foldCase(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
		}
	}
	return strings.ToLower(name)
}
