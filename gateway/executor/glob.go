package executor

import (
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// glob decides on names and relative paths. Names are compared in NFC, so that
// a pattern finds a name however its file system composes it.
type glob struct {
	pattern string
	// whole matches the path relative to the root instead of the name.
	whole bool
	// folders wants folders only: the pattern ended in a slash.
	folders bool
	fold    bool
	// plain, suffix: the pattern needs no matching.
	plain  bool
	suffix string
}

// checkGlob refuses a pattern that cannot match anything below a folder.
func checkGlob(pattern string) error {
	switch {
	case strings.HasPrefix(pattern, "/"):
		return badArgument("pattern", "is matched below directory; leave out the leading slash, or give the folder as directory")
	case pattern == ".." || strings.HasPrefix(pattern, "../") || strings.Contains(pattern, "/../") || strings.HasSuffix(pattern, "/.."):
		return badArgument("pattern", "never matches '..'; give the folder as directory")
	case !doublestar.ValidatePattern(pattern):
		return badArgument("pattern", "is not a valid glob; write \\[ for a literal bracket")
	}
	return nil
}

// newGlob compiles a pattern that checkGlob accepted; "" matches everything.
func newGlob(pattern string, fold bool) *glob {
	g := &glob{pattern: norm.NFC.String(strings.TrimPrefix(pattern, "./")), fold: fold}
	if rest, ok := strings.CutSuffix(g.pattern, "/"); ok {
		g.pattern, g.folders = rest, true
	}
	if g.pattern == "" {
		g.pattern = "*"
	}
	if fold {
		g.pattern = foldASCII(g.pattern)
	}
	g.whole = strings.Contains(g.pattern, "/")
	g.plain = !strings.ContainsAny(g.pattern, `*?[{\`)
	if rest, ok := strings.CutPrefix(g.pattern, "*"); ok && !g.whole && !strings.ContainsAny(rest, `*?[{\`) {
		g.suffix, g.plain = rest, false
	} else if !g.plain {
		g.suffix = "\x00" // no name holds it
	}
	return g
}

// match decides on the entry name of the folder dir, "" or with a slash at its
// end.
func (g *glob) match(dir, name string) bool {
	if g.whole {
		name = dir + name
	}
	if !isASCII(name) && utf8.ValidString(name) {
		name = norm.NFC.String(name)
	}
	if g.fold {
		name = foldASCII(name)
	}
	switch {
	case g.plain:
		return name == g.pattern
	case g.suffix != "\x00":
		return strings.HasSuffix(name, g.suffix)
	}
	return doublestar.MatchUnvalidated(g.pattern, name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII makes the ASCII letters of s small.
func foldASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			lowerASCII(b, b)
			return string(b)
		}
	}
	return s
}

// lowerASCII writes src to dst, of the same length, with small ASCII letters.
func lowerASCII(dst, src []byte) {
	for i, c := range src {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst[i] = c
	}
}
