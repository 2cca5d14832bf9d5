package entry

import (
	"fmt"
	"strings"

	"deckhand/gateway/turn"
)

const (
	// maxArgs and maxArg bound an argument list: its entries, and the bytes of
	// one entry, which is what Linux takes less the closing NUL.
	maxArgs = 1024
	maxArg  = 128<<10 - 1
	// maxDepth is how many wrappers may stand around a program.
	maxDepth = 16
)

// Check answers whether a command may begin with these arguments. A refusal is
// a *turn.Refusal of code command_refused, whose detail names the rule. It never
// looks at the disk.
func Check(argv []string) error {
	if why := malformed(argv); why != "" {
		return turn.Refuse(turn.CommandRefused, "%s", why)
	}
	var c check
	if b := c.program(argv, 0); b != nil {
		return turn.Refuse(turn.CommandRefused, "%s", b)
	}
	return nil
}

// malformed says why no system would take the arguments, "" if one might.
func malformed(argv []string) string {
	switch {
	case len(argv) == 0 || argv[0] == "":
		return "argv names no program"
	case len(argv) > maxArgs:
		return fmt.Sprintf("argv has %d entries; at most %d are taken", len(argv), maxArgs)
	}
	for i, arg := range argv {
		switch {
		case strings.ContainsRune(arg, 0):
			return fmt.Sprintf("argv[%d] holds a NUL byte", i)
		case len(arg) > maxArg:
			return fmt.Sprintf("argv[%d] has %d bytes; at most %d are taken", i, len(arg), maxArg)
		}
	}
	return ""
}

// breach is a rule that an argument list breaks.
type breach struct {
	rule string
	// what was found, as the caller wrote it, and why it is refused.
	what, why string
	// behind are the wrappers around it, outermost first.
	behind []string
}

func (b *breach) String() string {
	s := fmt.Sprintf("rule %s: %.80q %s", b.rule, b.what, b.why)
	if len(b.behind) > 0 {
		s += " (behind " + strings.Join(b.behind, ", ") + ")"
	}
	return s
}

// check goes through the wrappers of one argument list.
type check struct {
	behind []string
	// guessing says that arguments are tried as programs one by one.
	guessing bool
}

// program returns what is wrong with running argv, or nil.
func (c *check) program(argv []string, depth int) *breach {
	if len(argv) == 0 {
		return nil
	}
	if depth > maxDepth {
		return c.breach("A08", argv[0], "stands behind more wrappers than are looked through")
	}
	if len(argv) > maxArgs { // env -S makes many of one
		return c.breach("A08", argv[0], "stands before more arguments than are looked through")
	}
	at := locate(argv[0])
	if r := ruleFor(at); r != nil {
		return c.breach(r.id, argv[0], r.why)
	}
	for _, g := range guards {
		if g.is(at.name) {
			if b := g.check(c, argv); b != nil {
				return b
			}
		}
	}
	if w := wrapperFor(at, argv[1:]); w != nil {
		return c.behindOf(w, argv, depth)
	}
	return nil
}

func (c *check) breach(rule, what, why string) *breach {
	return &breach{rule: rule, what: what, why: why, behind: c.behind}
}

// behindOf goes on with what the wrapper argv[0] runs.
func (c *check) behindOf(w *wrapper, argv []string, depth int) *breach {
	outer := c.behind
	defer func() { c.behind = outer }()
	c.behind = append(outer[:len(outer):len(outer)], locate(argv[0]).name)
	inner := w.unwrap(argv[1:])
	for _, spec := range inner.packages {
		if modelPackage(spec) {
			return c.breach("A05", spec, whyModel)
		}
	}
	for _, line := range inner.lines {
		if b := c.program(words(line), depth+1); b != nil {
			return b
		}
	}
	if !inner.uncertain {
		return c.program(inner.argv, depth+1)
	}
	if c.guessing {
		return nil // the arguments are being tried one by one already
	}
	c.guessing = true
	defer func() { c.guessing = false }()
	for i := range inner.argv {
		if b := c.program(inner.argv[i:], depth+1); b != nil {
			return b
		}
	}
	return nil
}
