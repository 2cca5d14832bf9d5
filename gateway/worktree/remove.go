package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/turn"
)

// removing is a file in the registration that says that a removal was decided
// on and begun. A later Remove completes it without asking again, and nothing
// else works in the worktree any more.
const removing = "deckhand-removing"

// Record is where the owner of a worktree writes down that it is removed. Its
// methods are called while every other call on the worktree is kept out, so
// that two removals never meet.
type Record interface {
	// Retire is called before anything else: from then on nobody may begin to
	// work in the worktree. It is repeated after a crash, and its error ends the
	// removal.
	Retire() error
	// Keep takes Retire back, because of why, if nothing was removed.
	Keep(why error) error
	// Removed is called when nothing but the branch is left.
	Removed() error
}

// Remove removes a worktree and its registration; its branch stays. Without
// force it refuses with WorktreeNotClean what would lose anything: changes that
// are not committed, ignored files, repositories inside. Symbolic links are
// removed, never followed. A worktree that is gone already only loses its
// registration.
func (k *Keeper) Remove(ctx context.Context, tree Tree, force bool, record Record) error {
	held, release, err := k.hold(ctx, tree.Session)
	if err != nil {
		return err
	}
	defer release()
	if err := record.Retire(); err != nil {
		return err
	}
	if err := k.step("retired"); err != nil {
		return err
	}
	decided, err := k.decide(ctx, tree, force, held)
	switch {
	case err == nil:
	case errors.Is(err, errStopped), isRemoving(tree):
		return err
	default:
		return errors.Join(err, record.Keep(err))
	}
	if err := k.step("decided"); err != nil {
		return err
	}
	if decided == there {
		if err := removeTree(tree); err != nil {
			return refuse(turn.IOError, err, "the worktree could not be removed completely; try again")
		}
	}
	if err := k.step("removed"); err != nil {
		return err
	}
	if err := k.unregister(tree); err != nil {
		return err
	}
	if err := k.step("unregistered"); err != nil {
		return err
	}
	return record.Removed()
}

// presence says whether the directory of a worktree is there.
type presence bool

const (
	there presence = true
	gone  presence = false
)

// decide refuses what must not be removed. After nil the removal is decided on,
// also for every later call.
func (k *Keeper) decide(ctx context.Context, tree Tree, force bool, held *os.File) (presence, error) {
	begun, known, err := begun(tree)
	if err != nil {
		return there, err
	}
	at := there
	device, inode, err := identity(tree.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at = gone
	case err != nil || device != tree.Device || inode != tree.Inode:
		return there, turn.RefuseFor(turn.WorktreeChanged, err, "something else stands at the worktree's path; it was left alone")
	case !begun:
		if err := k.removable(ctx, tree, force, held); err != nil {
			return there, err
		}
	}
	if begun || !known {
		return at, nil
	}
	if err := atomicfile.WriteFile(filepath.Join(tree.Registration, removing), []byte(tree.Session+"\n"), 0o600); err != nil {
		return at, refuse(turn.IOError, err, "the removal cannot be recorded")
	}
	return at, nil
}

// begun reports whether an earlier Remove was interrupted, and whether there is
// anything in the registration. It checks that this is ours: by its lock, or,
// where an interrupted Remove has taken that away, by the mark that it leaves to
// the last.
func begun(tree Tree) (begun, known bool, err error) {
	if filepath.Dir(tree.Registration) != filepath.Join(tree.CommonDir, "worktrees") {
		return false, false, turn.Refuse(turn.InvalidArguments, "the registration does not belong to the repository")
	}
	left, err := os.ReadDir(tree.Registration)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(left) == 0 {
		return false, false, nil
	}
	if isRemoving(tree) {
		return true, true, nil
	}
	lock, err := readSmall(filepath.Join(tree.Registration, "locked"))
	if err != nil || sessionOf(lock) != tree.Session {
		return false, true, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree's lock is gone or somebody else's; remove it with git worktree remove")
	}
	return false, true, nil
}

// isRemoving reports whether the removal of a worktree has been decided on.
func isRemoving(tree Tree) bool {
	text, err := readSmall(filepath.Join(tree.Registration, removing))
	return err == nil && text == string(tree.Session)
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

// unregister removes the registration, and only it. The mark goes last: what a
// crash leaves is known to be ours.
func (k *Keeper) unregister(tree Tree) error {
	fail := func(err error) error {
		return refuse(turn.IOError, err, "the worktree's registration could not be removed")
	}
	worktrees, err := os.OpenRoot(filepath.Join(tree.CommonDir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(err)
	}
	defer worktrees.Close()
	name := filepath.Base(tree.Registration)
	switch info, err := worktrees.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !info.IsDir():
		return turn.RefuseFor(turn.WorktreeChanged, err, "something else stands at the place of the worktree's registration; it was left alone")
	}
	registration, err := worktrees.OpenRoot(name)
	if err != nil {
		return fail(err)
	}
	if err := errors.Join(k.empty(registration), registration.Close()); err != nil {
		return fail(err)
	}
	if err := worktrees.Remove(name); err != nil {
		return fail(err)
	}
	// Git removes the folder with the last one, and so do we.
	os.Remove(filepath.Join(tree.CommonDir, "worktrees"))
	return nil
}

// empty removes everything in a registration.
func (k *Keeper) empty(registration *os.Root) error {
	entries, err := fs.ReadDir(registration.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == removing {
			continue
		}
		if err := registration.RemoveAll(e.Name()); err != nil {
			return err
		}
		if err := k.step("unregistering " + e.Name()); err != nil {
			return err
		}
	}
	if err := registration.RemoveAll(removing); err != nil {
		return err
	}
	return k.step("unmarked")
}
