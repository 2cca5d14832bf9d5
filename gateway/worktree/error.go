package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// refuse gives an error its public sentence, unless it has one, or only says
// that the caller gave up.
func refuse(code turn.Code, err error, format string, args ...any) error {
	if _, ok := errors.AsType[*turn.Refusal](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
	}
	return turn.RefuseFor(code, err, format, args...)
}

// maxNamed is how many names a public sentence holds.
const maxNamed = 5

// named lists names for a public sentence.
func named(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i == maxNamed {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(printable(name))
	}
	return b.String()
}

// printable quotes a name that is not plain text.
func printable(name string) string {
	plain := utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == ',' })
	if plain {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// count says how many there are of something.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
