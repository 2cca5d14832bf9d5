package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// Codes of this package, beside those of package turn that it uses.
const (
	// GitUnavailable: there is no git on this computer, or it is too old.
	GitUnavailable turn.Code = "git_unavailable"
	// GitFailed: git ended in a way that nobody foresaw; the cause is private.
	GitFailed turn.Code = "git_failed"
	// RepositoryUnsupported: the repository uses something that a worktree
	// could not show faithfully.
	RepositoryUnsupported turn.Code = "repository_unsupported"
	// WorktreeOccupied: something that is not ours stands where the worktree or
	// its branch should be.
	WorktreeOccupied turn.Code = "worktree_occupied"
	// WorktreeChanged: the worktree is not what Deckhand made any more.
	WorktreeChanged turn.Code = "worktree_changed"
	// WorktreeNotClean: removing the worktree would lose something.
	WorktreeNotClean turn.Code = "worktree_not_clean"
	// WorktreeBusy: another call works on the same worktree.
	WorktreeBusy turn.Code = "worktree_busy"
	// NothingToCommit: the worktree holds what its branch holds.
	NothingToCommit turn.Code = "nothing_to_commit"
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
