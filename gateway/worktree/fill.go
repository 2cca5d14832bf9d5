package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"deckhand/gateway/turn"
)

// fill writes the files and the index of a registered worktree. Files that an
// interrupted call wrote are kept if they are what Git writes, and written
// anew if they are the beginning of it; anything else is not ours.
func (m *making) fill(ctx context.Context, tree Tree) error {
	b, err := m.k.newBench(m.src, tree.Path, m.held)
	if err != nil {
		return err
	}
	defer b.close()
	b.index = filepath.Join(tree.Registration, "index")
	if err := m.empty(ctx, b, tree); err != nil {
		return err
	}
	if _, err := b.run(ctx, "read-tree", string(tree.Commit)); err != nil {
		return m.missing(err, "Git cannot read the commit")
	}
	if err := m.k.step("indexed"); err != nil {
		return err
	}
	if err := m.clearHalves(ctx, b, tree); err != nil {
		return err
	}
	if err := m.k.step("cleared"); err != nil {
		return err
	}
	if _, err := b.run(ctx, "checkout-index", "-q", "--all", "--index"); err != nil {
		return m.missing(err, "Git cannot write the files of the worktree")
	}
	if err := m.k.step("checked out"); err != nil {
		return err
	}
	if err := m.compare(ctx, b, tree); err != nil {
		return err
	}
	if err := syncAll(tree.Path); err != nil {
		return refuse(turn.IOError, err, "the worktree cannot be brought to the disk")
	}
	if err := m.k.step("synced"); err != nil {
		return err
	}
	return m.setMark(tree)
}

// missing explains a failure by objects that are only on a server, if so.
func (m *making) missing(err error, sentence string) error {
	if m.src.partial {
		return refuse(turn.RepositoryUnsupported, err, "%s: it is a partial clone, whose missing objects Deckhand does not fetch; run git fetch --refetch --no-filter, or use direct_write", sentence)
	}
	return refuse(turn.GitFailed, err, "%s", sentence)
}

// empty takes away what an interrupted git left beside the index. Nobody else
// was ever told of this worktree, and nobody works on it now.
func (m *making) empty(ctx context.Context, b *bench, tree Tree) error {
	if at, err := m.k.resolve(ctx, m.src, "refs/heads/"+tree.Branch); err != nil || at != tree.Commit {
		return refuse(turn.WorktreeOccupied, errors.Join(err, errors.New("branch moved")), "the branch %s was moved before the worktree was complete", tree.Branch)
	}
	for _, name := range []string{"index", "index.lock"} {
		if err := os.Remove(filepath.Join(tree.Registration, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refuse(turn.GitFailed, err, "the rest of an interrupted start cannot be removed")
		}
	}
	return nil
}

// clearHalves takes away files that were being written when an earlier call
// ended.
func (m *making) clearHalves(ctx context.Context, b *bench, tree Tree) error {
	if entries, err := os.ReadDir(tree.Path); err != nil || len(entries) == 1 {
		return err
	}
	fail := func(err error) error { return refuse(turn.GitFailed, err, "Git cannot look at the worktree") }
	if err := b.refresh(ctx); err != nil {
		return fail(err)
	}
	foreign, err := b.names(ctx, "ls-files", "-z", "--others")
	if err != nil {
		return fail(err)
	}
	changed, err := b.changed(ctx)
	if err != nil {
		return fail(err)
	}
	var there []string
	for _, path := range changed {
		if _, err := os.Lstat(filepath.Join(tree.Path, path)); err == nil {
			there = append(there, path)
		}
	}
	whole := filepath.Join(b.dir, "whole")
	if _, err := b.feed(ctx, there, "checkout-index", "-q", "-z", "--stdin", "--prefix="+whole+"/"); err != nil {
		return m.missing(err, "Git cannot write the files of the worktree")
	}
	var halves []string
	for _, path := range there {
		half, err := isBeginning(filepath.Join(tree.Path, path), filepath.Join(whole, path))
		if err != nil {
			return refuse(turn.IOError, err, "the worktree cannot be read")
		}
		if half {
			halves = append(halves, path)
		} else {
			foreign = append(foreign, path)
		}
	}
	if len(foreign) > 0 {
		return turn.Refuse(turn.WorktreeOccupied, "the worktree was interrupted while it was made, and holds files that Deckhand did not write: %s", named(foreign))
	}
	for _, path := range halves {
		if err := os.Remove(filepath.Join(tree.Path, path)); err != nil {
			return refuse(turn.IOError, err, "the rest of an interrupted start cannot be removed")
		}
	}
	return nil
}

// isBeginning reports whether the regular file at half is how the one at whole
// begins.
func isBeginning(half, whole string) (bool, error) {
	for _, path := range []string{half, whole} {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return false, err
		}
	}
	a, err := os.Open(half)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := os.Open(whole)
	if err != nil {
		return false, err
	}
	defer b.Close()
	bufA, bufB := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, bufA)
		if n > 0 {
			if _, errB := io.ReadFull(b, bufB[:n]); errB != nil || string(bufA[:n]) != string(bufB[:n]) {
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// compare checks that the worktree holds what the commit holds.
func (m *making) compare(ctx context.Context, b *bench, tree Tree) error {
	fail := func(err error) error {
		return refuse(turn.GitFailed, err, "Git cannot compare the worktree with its commit")
	}
	if err := b.refresh(ctx); err != nil {
		return fail(err)
	}
	staged, changed, untracked, err := b.status(ctx, tree.Commit)
	if err != nil {
		return fail(err)
	}
	if all := union(union(staged, changed), untracked); len(all) > 0 {
		return turn.Refuse(turn.RepositoryUnsupported, "Git does not read back what it wrote: %s; the line ends of these files may not be normalised as .gitattributes says (git add --renormalize and commit)", named(all))
	}
	return nil
}

// refresh compares with their contents the files whose times changed, and notes
// in the index which are as they should be.
func (b *bench) refresh(ctx context.Context) error {
	if _, err := b.run(ctx, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return err
	}
	return nil
}

// changed lists the files that differ from the index, after a refresh.
func (b *bench) changed(ctx context.Context) ([]string, error) {
	return b.names(ctx, "diff-files", "--no-ext-diff", "--ignore-submodules=all", "--no-renames", "-z", "--name-only")
}
