package worktree

import (
	"bytes"
	"context"
	"deckhand/gateway/turn"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kind says what happened to a file.
type Kind string

const (
	Added    Kind = "added"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Renamed  Kind = "renamed"
	// Retyped: a file became a symbolic link, or the other way round.
	Retyped Kind = "retyped"
)

// FileChange is one file that a worktree changed. Paths are relative to the
// top level, with the bytes that the file system has: they need not be UTF-8.
type FileChange struct {
	Path string
	// From is where a renamed file came from.
	From string
	Kind Kind
	// Added and Removed count lines; both are 0 for binary files.
	Added, Removed int
	Binary         bool
	// Mode says that the executable bit changed.
	Mode bool
}

// Changes is what a worktree changed since the commit that it began with,
// whether or not it was committed since.
type Changes struct {
	Files []FileChange
	// Diff is a unified diff for people and models: valid UTF-8 (what is not is
	// replaced), cut after a whole line.
	Diff      string
	Truncated bool
	// Skipped will not be brought home.
	Skipped []Skipped
}

// Diff compares a worktree with the commit that it began with. The text holds
// at most maxDiff bytes; 0 gives the list alone.
func (k *Keeper) Diff(ctx context.Context, tree Tree, maxDiff int) (Changes, error) {
	var changes Changes
	err := k.captured(ctx, tree, func(b *bench, s *state) error {
		var err error
		if changes.Files, err = b.compareTrees(ctx, tree.Commit, s.tree, true); err != nil {
			return err
		}
		changes.Skipped = s.skipped
		if maxDiff <= 0 || len(changes.Files) == 0 {
			return nil
		}
		head := &cut{max: maxDiff}
		c := b.command(diffArgs(tree.Commit, s.tree, "--unified=3")...)
		c.stdout = head
		if _, err := b.k.run.run(ctx, c); err != nil && !errors.Is(err, errCut) {
			return err
		}
		changes.Diff, changes.Truncated = head.text()
		return nil
	})
	return changes, err
}

// Patch writes all that the worktree changed in a form that git apply takes,
// binary files included. A file that goes through a filter stands in it as Git
// stores it.
func (k *Keeper) Patch(ctx context.Context, tree Tree, w io.Writer) error {
	return k.captured(ctx, tree, func(b *bench, s *state) error {
		c := b.command(diffArgs(tree.Commit, s.tree, "--binary", "--full-index")...)
		c.stdout = w
		c.unbounded = true
		_, err := b.k.run.run(ctx, c)
		return err
	})
}

func diffArgs(from, to OID, more ...string) []string {
	args := []string{"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
		"--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=histogram"}
	return append(append(args, more...), string(from), string(to))
}

// captured verifies a worktree, captures its state on a bench and hands both to
// use. What fails without a reason of its own gets one sentence.
func (k *Keeper) captured(ctx context.Context, tree Tree, use func(*bench, *state) error) error {
	held, release, err := k.hold(ctx, tree.Session)
	if err != nil {
		return err
	}
	defer release()
	repo, err := k.verify(ctx, tree)
	if err != nil {
		return err
	}
	b, err := k.newBench(repo, tree.Path, held)
	if err != nil {
		return err
	}
	defer b.close()
	tip, err := k.resolve(ctx, repo, "HEAD")
	var s *state
	if err == nil {
		s, err = b.capture(ctx, tip)
	}
	if err == nil {
		err = use(b, s)
	}
	if err != nil {
		return refuse(turn.GitFailed, err, "Git cannot compare the worktree with the commit that it began with")
	}
	return nil
}

// compareTrees lists the files that differ between two trees.
func (b *bench) compareTrees(ctx context.Context, from, to OID, renames bool) ([]FileChange, error) {
	args := []string{"diff-tree", "-r", "-z", "--raw", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames", string(from), string(to)}
	if renames {
		args[7] = "-M"
	}
	out, err := b.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	return parseChanges(splitNames(out))
}

// parseChanges reads the raw lines and then the numbers of diff-tree -z.
func parseChanges(fields []string) ([]FileChange, error) {
	var files []FileChange
	malformed := errors.New("read diff: malformed output")
	i := 0
	next := func() (string, bool) {
		if i == len(fields) {
			return "", false
		}
		i++
		return fields[i-1], true
	}
	for i < len(fields) && strings.HasPrefix(fields[i], ":") {
		head, _ := next()
		// ":100644 100755 OID OID M"
		part := strings.Fields(head)
		path, ok := next()
		if len(part) != 5 || !ok {
			return nil, malformed
		}
		f := FileChange{Path: path}
		switch part[4][0] {
		case 'A':
			f.Kind = Added
		case 'D':
			f.Kind = Deleted
		case 'M':
			f.Kind = Modified
		case 'T':
			f.Kind = Retyped
		case 'R':
			f.Kind, f.From = Renamed, path
			if f.Path, ok = next(); !ok {
				return nil, malformed
			}
		default:
			return nil, fmt.Errorf("read diff: unknown status %q", part[4])
		}
		f.Mode = (f.Kind == Modified || f.Kind == Renamed) && part[0] != ":"+part[1]
		files = append(files, f)
	}
	for n := range files {
		head, ok := next()
		added, rest, ok2 := strings.Cut(head, "\t")
		removed, path, ok3 := strings.Cut(rest, "\t")
		if !ok || !ok2 || !ok3 {
			return nil, malformed
		}
		if path == "" {
			next()
			path, _ = next()
		}
		f := &files[n]
		if path != f.Path {
			return nil, malformed
		}
		if added == "-" {
			f.Binary = true
			continue
		}
		var err1, err2 error
		f.Added, err1 = strconv.Atoi(added)
		f.Removed, err2 = strconv.Atoi(removed)
		if err1 != nil || err2 != nil {
			return nil, malformed
		}
	}
	if i != len(fields) {
		return nil, malformed
	}
	return files, nil
}

// errCut ends a diff that is longer than wanted.
var errCut = errors.New("diff is cut")

// cut keeps the beginning of a text.
type cut struct {
	buf  bytes.Buffer
	max  int
	more bool
}

func (c *cut) Write(p []byte) (int, error) {
	if left := c.max - c.buf.Len(); len(p) > left {
		c.buf.Write(p[:left])
		c.more = true
		return left, errCut
	}
	return c.buf.Write(p)
}

// text gives what was kept, in whole lines if something had to go.
func (c *cut) text() (text string, truncated bool) {
	text = strings.ToValidUTF8(c.buf.String(), "\uFFFD")
	if c.more || len(text) > c.max {
		text = text[:min(len(text), c.max)]
		return text[:strings.LastIndexByte(text, '\n')+1], true
	}
	return text, false
}
