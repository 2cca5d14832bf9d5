package worktree

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// Conflict is one path that Apply cannot bring home, and why.
type Conflict struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// merge joins what a worktree changed since base with what its source changed
// since, file by file and line by line, following renames. Conflicts are listed
// and then tree is of no use.
func (b *bench) merge(ctx context.Context, base, ours, theirs OID) (tree OID, conflicts []Conflict, err error) {
	// Git 2.38 merges commits only: three that exist nowhere else.
	root, err := b.commitTree(ctx, base, "", "base", nobody)
	if err != nil {
		return "", nil, err
	}
	var sides [2]OID
	for i, side := range []OID{ours, theirs} {
		if sides[i], err = b.commitTree(ctx, side, root, "side", nobody); err != nil {
			return "", nil, err
		}
	}
	out, err := b.run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", string(sides[0]), string(sides[1]))
	if err != nil && exitCode(err) != 1 {
		return "", nil, err
	}
	clean := err == nil
	first, rest, _ := strings.Cut(string(out), "\x00")
	if tree, err = parseOID([]byte(first)); err != nil {
		return "", nil, err
	}
	if clean {
		return tree, nil, nil
	}
	conflicts, err = parseConflicts(rest)
	return tree, conflicts, err
}

// parseConflicts reads the names of merge-tree -z and then its messages.
func parseConflicts(text string) ([]Conflict, error) {
	malformed := errors.New("read merge: malformed output")
	fields := strings.Split(text, "\x00")
	var conflicts []Conflict
	place := map[string]int{}
	i := 0
	for ; i < len(fields) && fields[i] != ""; i++ {
		if _, twice := place[fields[i]]; !twice {
			place[fields[i]] = len(conflicts)
			conflicts = append(conflicts, Conflict{Path: fields[i], Reason: conflictWords[""]})
		}
	}
	if len(conflicts) == 0 {
		return nil, malformed
	}
	// "COUNT NUL PATH... KIND NUL MESSAGE NUL", again and again.
	for i++; i < len(fields) && fields[i] != ""; {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 0 || i+n+2 >= len(fields) {
			return nil, malformed
		}
		kind := fields[i+n+1]
		for _, path := range fields[i+1 : i+1+n] {
			// The first one is the most exact.
			at, ok := place[path]
			if ok && conflicts[at].Reason == conflictWords[""] && conflictWords[kind] != "" {
				conflicts[at].Reason = conflictWords[kind]
			}
		}
		i += n + 3
	}
	return conflicts, nil
}

// conflictWords say what Git's kinds of conflicts mean here. The source is
// Git's "ours".
var conflictWords = map[string]string{
	"":                         "the worktree and the source changed it differently",
	"CONFLICT (contents)":      "the worktree and the source changed the same lines",
	"CONFLICT (binary)":        "the worktree and the source changed it differently, and it is binary",
	"CONFLICT (modify/delete)": "one side changed it and the other deleted it",
	"CONFLICT (rename/delete)": "one side renamed it and the other deleted it",
	"CONFLICT (rename/rename)": "both sides renamed it differently",
	"CONFLICT (rename involved in collision)": "a renamed file meets another one of the same name",
	"CONFLICT (file/directory)":               "one side has a file and the other a directory of that name",
	"CONFLICT (distinct modes)":               "the worktree and the source made it different kinds of file",
	"CONFLICT (directory rename suggested)":   "the source renamed its directory, and it is not certain where it belongs",
}

// person is who makes a commit.
type person struct{ name, email string }

// nobody makes the commits that no one sees.
var nobody = person{"Deckhand", "deckhand@localhost"}

// commitTree makes a commit of a tree. parent may be "".
func (b *bench) commitTree(ctx context.Context, tree, parent OID, message string, who person) (OID, error) {
	args := []string{"commit-tree", string(tree) + "^{tree}", "--no-gpg-sign", "-F", "-"}
	if parent != "" {
		args = append(args, "-p", string(parent))
	}
	c := b.command(args...)
	c.stdin = []byte(message)
	c.env = append(c.env, "GIT_AUTHOR_NAME="+who.name, "GIT_AUTHOR_EMAIL="+who.email,
		"GIT_COMMITTER_NAME="+who.name, "GIT_COMMITTER_EMAIL="+who.email)
	out, err := b.k.run.run(ctx, c)
	if err != nil {
		return "", err
	}
	return parseOID(out)
}
