package worktree

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/turn"
)

// maxMessage bounds the message of a commit, in bytes.
const maxMessage = 64 << 10

// Commit records the worktree's state, untracked files included and ignored
// ones not, as a commit on its branch, without hooks and unsigned. The author is
// the one that the user's or the repository's Git configuration names. If the
// branch holds that state already, it answers NothingToCommit. Repeating a call
// that was interrupted is safe.
func (k *Keeper) Commit(ctx context.Context, tree Tree, message string) (OID, error) {
	message = strings.TrimSpace(message)
	if message == "" || len(message) > maxMessage || !utf8.ValidString(message) || strings.ContainsRune(message, 0) {
		return "", turn.Refuse(turn.InvalidArguments, "the message of a commit is text of 1 to %d bytes", maxMessage)
	}
	held, release, err := k.hold(ctx, tree.Session)
	if err != nil {
		return "", err
	}
	defer release()
	repo, err := k.verify(ctx, tree)
	if err != nil {
		return "", err
	}
	b, err := k.newBench(repo, tree.Path, held)
	if err != nil {
		return "", err
	}
	defer b.close()
	b.keep = true
	commit, err := b.commit(ctx, tree, message)
	if err != nil {
		return "", refuse(turn.GitFailed, err, "Git cannot commit the worktree's state")
	}
	return commit, nil
}

func (b *bench) commit(ctx context.Context, tree Tree, message string) (OID, error) {
	ref := "refs/heads/" + tree.Branch
	tip, err := b.k.resolve(ctx, b.repo, ref)
	if err != nil {
		return "", err
	}
	s, err := b.capture(ctx, tip)
	if err != nil {
		return "", err
	}
	changes, err := b.compareTrees(ctx, tip, s.tree, false)
	if err != nil {
		return "", err
	}
	if len(changes) == 0 {
		// The index may be older than the branch, after a crash.
		if err := b.publishIndex(nil); err != nil {
			return "", err
		}
		return "", turn.Refuse(turn.NothingToCommit, "the branch %s holds all of it already", tree.Branch)
	}
	var names []string
	for _, f := range changes {
		if f.Kind != Deleted {
			names = append(names, f.Path)
		}
	}
	filters, err := b.filtered(ctx, names)
	if err != nil {
		return "", err
	}
	if len(filters) > 0 {
		return "", turn.Refuse(turn.RepositoryUnsupported, "%s would have to go through a Git filter, which Deckhand does not run; commit it in the worktree with git", named(slices.Sorted(maps.Keys(filters))))
	}
	if err := b.k.step("captured"); err != nil {
		return "", err
	}
	commit, err := b.commitTree(ctx, s.tree, tip, message+"\n", b.author())
	if err != nil {
		return "", err
	}
	if err := b.k.step("committed"); err != nil {
		return "", err
	}
	err = b.publishIndex(func() error {
		c := b.repo.command("update-ref", "-m", "deckhand: commit", ref, string(commit), string(tip))
		c.held = b.held
		if _, err := b.k.run.run(ctx, c); err != nil {
			return refuse(turn.WorktreeChanged, err, "the branch %s moved in the meantime; try again", tree.Branch)
		}
		return b.k.step("moved")
	})
	return commit, err
}

// author is who makes the user's commits.
func (b *bench) author() person {
	who := person{b.repo.setting("user.name", nobody.name), b.repo.setting("user.email", nobody.email)}
	if strings.TrimSpace(who.name) == "" {
		who.name = nobody.name
	}
	return who
}

// spareIndex begins the name of an index that is about to become the
// worktree's.
const spareIndex = "deckhand-index-"

// publishIndex makes the bench's index the worktree's, under the lock that Git
// uses, after do has succeeded.
func (b *bench) publishIndex(do func() error) error {
	if err := b.clearSpares(); err != nil {
		return err
	}
	data, err := os.ReadFile(b.index)
	if err != nil {
		return err
	}
	index := filepath.Join(b.repo.gitDir, "index")
	spare := filepath.Join(b.repo.gitDir, spareIndex+strings.ToLower(rand.Text()))
	if err := atomicfile.WriteFile(spare, data, 0o644); err != nil {
		return err
	}
	// The lock is a second name of the spare index, so that a crash leaves one
	// that is known to be ours.
	err = os.Link(spare, index+".lock")
	if errors.Is(err, fs.ErrExist) {
		os.Remove(spare)
		return turn.RefuseFor(turn.WorktreeBusy, err, "another Git command works in the worktree (or one crashed and left index.lock there)")
	}
	if err == nil && do != nil {
		err = do()
	}
	if errors.Is(err, errStopped) {
		return err
	}
	if err == nil {
		err = os.Rename(index+".lock", index)
	}
	return errors.Join(err, b.clearSpares())
}

// clearSpares takes away what publishIndex left, with the lock if that is ours.
func (b *bench) clearSpares() error {
	spares, err := filepath.Glob(filepath.Join(escapeGlob(b.repo.gitDir), spareIndex+"*"))
	if err != nil {
		return err
	}
	lock := filepath.Join(b.repo.gitDir, "index.lock")
	for _, spare := range spares {
		own, err := os.Lstat(spare)
		if err != nil {
			return err
		}
		if found, err := os.Lstat(lock); err == nil && os.SameFile(own, found) {
			if err := os.Remove(lock); err != nil {
				return err
			}
		}
		if err := os.Remove(spare); err != nil {
			return err
		}
	}
	return nil
}
