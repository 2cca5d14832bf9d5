package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deckhand/gateway/turn"
)

// removing is a file in the registration that says that a removal was decided
// on and begun. A later Remove completes it without asking again.
const removing = "deckhand-removing"

// Remove removes a worktree and its registration; its branch stays. Without
// force it refuses with WorktreeNotClean what would lose anything: changes that
// are not committed, ignored files, repositories inside. Symbolic links are
// removed, never followed. A worktree that is gone already only loses its
// registration.
func (k *Keeper) Remove(ctx context.Context, tree Tree, force bool) error {
	held, release, err := k.hold(ctx, tree.Session)
	if err != nil {
		return err
	}
	defer release()
	begun, err := k.begun(tree)
	if err != nil {
		return err
	}
	device, inode, err := identity(tree.Path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone || err == nil && (device != tree.Device || inode != tree.Inode) {
		return turn.RefuseFor(turn.WorktreeChanged, err, "something else stands at the worktree's path; it was left alone")
	}
	if !begun && !gone {
		if err := k.removable(ctx, tree, force, held); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(tree.Registration, removing), []byte(tree.Session+"\n"), 0o600); err != nil {
			return refuse(turn.IOError, err, "the removal cannot be recorded")
		}
	}
	if err := k.step("decided"); err != nil {
		return err
	}
	if !gone {
		if err := removeTree(tree); err != nil {
			return refuse(turn.IOError, err, "the worktree could not be removed completely; try again")
		}
	}
	if err := k.step("removed"); err != nil {
		return err
	}
	return k.unregister(tree)
}

// begun reports whether an earlier Remove was interrupted, and checks that the
// registration is ours.
func (k *Keeper) begun(tree Tree) (bool, error) {
	if filepath.Dir(tree.Registration) != filepath.Join(tree.CommonDir, "worktrees") {
		return false, turn.Refuse(turn.InvalidArguments, "the registration does not belong to the repository")
	}
	lock, err := readSmall(filepath.Join(tree.Registration, "locked"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(tree.Registration); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
	}
	if err != nil || sessionOf(lock) != tree.Session {
		return false, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree's lock is gone or somebody else's; remove it with git worktree remove")
	}
	_, err = os.Lstat(filepath.Join(tree.Registration, removing))
	return err == nil, nil
}

// removable refuses what would lose something, unless forced.
func (k *Keeper) removable(ctx context.Context, tree Tree, force bool, held *os.File) error {
	if force {
		// Even then only what is provably ours.
		return registered(tree)
	}
	repo, err := k.verify(ctx, tree)
	if err != nil {
		return err
	}
	b, err := k.newBench(repo, tree.Path, held)
	if err != nil {
		return err
	}
	defer b.close()
	fail := func(err error) error {
		return refuse(turn.GitFailed, err, "Git cannot compare the worktree with its branch")
	}
	tip, err := k.resolve(ctx, repo, "refs/heads/"+tree.Branch)
	if err != nil {
		return fail(err)
	}
	s, err := b.capture(ctx, tip)
	if err != nil {
		return fail(err)
	}
	changes, err := b.compareTrees(ctx, tip, s.tree, false)
	if err != nil {
		return fail(err)
	}
	ignored, err := b.ignored(ctx)
	if err != nil {
		return fail(err)
	}
	var lost []string
	for _, f := range changes {
		lost = append(lost, f.Path)
	}
	switch {
	case len(lost) > 0:
		return turn.Refuse(turn.WorktreeNotClean, "%s not committed: %s; apply or commit first, or use --force", count(len(lost), "change is", "changes are"), named(lost))
	case len(s.skipped) > 0:
		return turn.Refuse(turn.WorktreeNotClean, "%s in the worktree would be lost: %s; move it away, or use --force", printable(s.skipped[0].Path), s.skipped[0].Reason)
	case len(ignored) > 0:
		return turn.Refuse(turn.WorktreeNotClean, "files that Git ignores would be lost: %s; move them away, or use --force", named(ignored))
	}
	return nil
}

// removeTree removes the directory of a worktree. It goes through its parent's
// descriptor, so that nothing that takes its place meanwhile is touched, and
// refuses to enter another file system.
func removeTree(tree Tree) error {
	parent, err := os.OpenRoot(filepath.Dir(tree.Path))
	if err != nil {
		return err
	}
	defer parent.Close()
	name := filepath.Base(tree.Path)
	err = filepath.WalkDir(tree.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || uint64(st.Dev) != tree.Device {
			return turn.Refuse(turn.WorktreeChanged, "another file system is mounted in the worktree; unmount it first")
		}
		return nil
	})
	if err != nil {
		return err
	}
	info, err := parent.Lstat(name)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || uint64(st.Dev) != tree.Device || st.Ino != tree.Inode {
		return turn.Refuse(turn.WorktreeChanged, "something else stands at the worktree's path; it was left alone")
	}
	return parent.RemoveAll(name)
}

// unregister removes the registration, and only it.
func (k *Keeper) unregister(tree Tree) error {
	if _, err := os.Lstat(tree.Registration); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	worktrees, err := os.OpenRoot(filepath.Join(tree.CommonDir, "worktrees"))
	if err == nil {
		defer worktrees.Close()
		err = worktrees.RemoveAll(filepath.Base(tree.Registration))
	}
	if err != nil {
		return refuse(turn.IOError, err, "the worktree's registration could not be removed")
	}
	// Git removes the folder with the last one, and so do we.
	os.Remove(filepath.Join(tree.CommonDir, "worktrees"))
	return nil
}
