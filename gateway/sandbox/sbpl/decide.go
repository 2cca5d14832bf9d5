package sbpl

import (
	"regexp"
	"strings"
)

// Subject is what an operation is about. Only what belongs to the operation is
// looked at.
type Subject struct {
	// Path is the kernel's path of the file or program.
	Path string
	// Vnode is its type as vnode-type names it; "" is REGULAR-FILE.
	Vnode string
	// Name is that of a service, a sysctl or a POSIX object; "" is one that
	// has no name.
	Name string
	// Target is how the other process stands to this one, as target names it.
	Target string
	// Protocol and Host and Port are where a connection leads. Host is
	// "localhost" for the loopback addresses.
	Protocol, Host, Port string
}

// Allows decides. It panics if the operation is unknown or a wildcard, which
// nothing ever asks about.
func (p *Profile) Allows(operation string, s Subject) bool {
	if _, ok := operations[operation]; !ok || strings.HasSuffix(operation, "*") && operation != "device*" {
		panic("sbpl: nothing asks for the operation " + operation)
	}
	for op := operation; op != ""; op = operations[op] {
		for i := len(p.Rules) - 1; i >= 0; i-- {
			if r := p.Rules[i]; r.Operation == op && p.anyMatches(r.Filters, s) {
				return r.Allow
			}
		}
	}
	return false
}

// anyMatches: no filter at all matches everything.
func (p *Profile) anyMatches(filters []Node, s Subject) bool {
	for _, f := range filters {
		if p.matches(f, s) {
			return true
		}
	}
	return len(filters) == 0
}

func (p *Profile) matches(n Node, s Subject) bool {
	name, arguments := n.head(), n.List[1:]
	switch name {
	case "require-all":
		for _, a := range arguments {
			if !p.matches(a, s) {
				return false
			}
		}
		return true
	case "require-any":
		return p.anyMatches(arguments, s)
	case "require-not":
		return !p.matches(arguments[0], s)
	case "regex":
		return s.Path != "" && regexp.MustCompile(arguments[0].Text).MatchString(s.Path)
	case "vnode-type":
		return arguments[0].Text == s.Vnode || s.Vnode == "" && arguments[0].Text == "REGULAR-FILE"
	case "target":
		return arguments[0].Text == s.Target
	case "remote":
		host, port, _ := strings.Cut(arguments[1].Text, ":")
		return (arguments[0].Text == s.Protocol || arguments[0].Text == "ip" && s.Protocol != "") &&
			(host == "*" || host == s.Host) && (port == "*" || port == s.Port)
	}
	if body, ok := p.functions[name]; ok {
		return p.matches(body[0], s)
	}
	text := arguments[0].Text
	if arguments[0].head() == "param" {
		text = p.params[arguments[0].List[1].Text]
	}
	switch name {
	case "literal":
		return s.Path == text
	case "subpath":
		return s.Path == text || strings.HasPrefix(s.Path, strings.TrimSuffix(text, "/")+"/")
	case "sysctl-name-prefix":
		return s.Name != "" && strings.HasPrefix(s.Name, text)
	}
	return s.Name == text // global-name, local-name, sysctl-name, ipc-posix-name
}
