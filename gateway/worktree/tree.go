package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deckhand/gateway/turn"
)

// branchPrefix begins the name of every branch that is ours.
const branchPrefix = "deckhand/"

// Plan says what Create shall make. It is recorded before Create is called, so
// that it can be called again with the same one.
type Plan struct {
	Session turn.SessionID `json:"session"`
	// Path is where the worktree will be: absolute, without blanks, not in the
	// source. Its parent is made with mode 0700 if it is missing.
	Path string `json:"path"`
	// Branch is the short name of the new branch, "deckhand/" and the session.
	Branch string `json:"branch"`
}

// PlanFor makes the usual plan: <root>/<repository>-<session>.
func PlanFor(root string, source Source, session turn.SessionID) Plan {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, filepath.Base(source.Dir))
	if name = strings.Trim(name, "-."); name == "" {
		name = "repository"
	}
	if len(name) > 60 {
		name = name[:60]
	}
	return Plan{Session: session, Path: filepath.Join(root, name+"-"+string(session)), Branch: branchPrefix + string(session)}
}

// Tree is a worktree of ours, with all that tells whether it still is.
type Tree struct {
	Session turn.SessionID `json:"session"`
	// Path is its top level: a real path. Device and Inode are that directory's.
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Branch is the short name of its branch, Commit the commit that branch and
	// worktree began with.
	Branch string `json:"branch"`
	Commit OID    `json:"commit"`
	// Source is the top level of the checkout it was made of, CommonDir the Git
	// directory that they share, Registration the worktree's own part of it.
	Source       string `json:"source"`
	CommonDir    string `json:"common_dir"`
	Registration string `json:"registration"`
}

// reason is what the lock of a worktree says, in one line. It is how we know
// our own.
func reason(session turn.SessionID) string {
	return "Deckhand session " + string(session) + "; to remove it: deckhand worktrees remove " + string(session)
}

// sessionOf reads what reason wrote, "" if somebody else did.
func sessionOf(lock string) turn.SessionID {
	lock = strings.TrimSpace(lock)
	rest, ok := strings.CutPrefix(lock, "Deckhand session ")
	name, _, _ := strings.Cut(rest, ";")
	if !ok || !sessionPattern.MatchString(name) || lock != reason(turn.SessionID(name)) {
		return ""
	}
	return turn.SessionID(name)
}

// identity gives device and inode of a directory that is no link.
func identity(path string) (device, inode uint64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return 0, 0, fmt.Errorf("%s is not a directory", path)
	}
	return uint64(st.Dev), st.Ino, nil
}

// Verify checks that a worktree is still the one that Create made: the same
// directory at the same path, registered under the same name, locked by us, on
// its branch, which still builds on the commit that it began with. Anything
// else is a refusal WorktreeChanged that says what.
func (k *Keeper) Verify(ctx context.Context, tree Tree) error {
	_, err := k.verify(ctx, tree)
	return err
}

// verify also gives the repository as the worktree sees it.
func (k *Keeper) verify(ctx context.Context, tree Tree) (*repository, error) {
	device, inode, err := identity(tree.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree was removed or moved away")
	case err != nil:
		return nil, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree's path does not lead to a directory any more")
	case device != tree.Device || inode != tree.Inode:
		return nil, turn.Refuse(turn.WorktreeChanged, "another directory stands at the worktree's path")
	}
	if err := registered(tree); err != nil {
		return nil, err
	}
	repo, err := k.locate(ctx, tree.Path)
	if err != nil {
		return nil, changed(err, "the worktree cannot be read any more")
	}
	if repo.gitDir != tree.Registration || repo.commonDir != tree.CommonDir {
		return nil, turn.Refuse(turn.WorktreeChanged, "the worktree belongs to another repository now")
	}
	tip, branch, err := k.head(ctx, repo)
	if err != nil {
		return nil, changed(err, "the worktree's HEAD or its branch is gone")
	}
	if branch != "refs/heads/"+tree.Branch {
		if branch == "" {
			branch = "no branch"
		}
		return nil, turn.Refuse(turn.WorktreeChanged, "the worktree is on %s and not on %s any more", printable(strings.TrimPrefix(branch, "refs/heads/")), tree.Branch)
	}
	if tip == tree.Commit {
		return repo, nil
	}
	_, err = k.run.run(ctx, repo.command("merge-base", "--is-ancestor", string(tree.Commit), "refs/heads/"+tree.Branch))
	if exitCode(err) == 1 {
		return nil, turn.Refuse(turn.WorktreeChanged, "the branch %s was moved: it does not build on the commit that the worktree began with", tree.Branch)
	}
	if err != nil {
		return nil, refuse(turn.GitFailed, err, "Git cannot compare the worktree's branch")
	}
	return repo, nil
}

// changed says WorktreeChanged whatever code the cause has, unless the caller
// only gave up.
func changed(err error, sentence string) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return turn.RefuseFor(turn.WorktreeChanged, err, "%s", sentence)
}

// registered checks the files that tie the worktree and its registration
// together, without asking git.
func registered(tree Tree) error {
	pointer, err := readSmall(filepath.Join(tree.Path, ".git"))
	if err != nil || pointer != "gitdir: "+tree.Registration {
		return turn.RefuseFor(turn.WorktreeChanged, err, "the worktree's .git file is not what Git wrote")
	}
	back, err := readSmall(filepath.Join(tree.Registration, "gitdir"))
	if err != nil || back != filepath.Join(tree.Path, ".git") {
		return turn.RefuseFor(turn.WorktreeChanged, err, "the repository does not know the worktree at this path any more")
	}
	lock, err := readSmall(filepath.Join(tree.Registration, "locked"))
	if err != nil || sessionOf(lock) != tree.Session {
		return turn.RefuseFor(turn.WorktreeChanged, err, "the worktree's lock is gone or somebody else's")
	}
	if isRemoving(tree) {
		return turn.Refuse(turn.WorktreeRemoved, "the removal of the worktree was begun; complete it with: deckhand worktrees remove %s", tree.Session)
	}
	return nil
}

// readSmall reads one of the short files in a Git directory, without its final
// line break. Anything but a regular file is an error, and never waited for.
func readSmall(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", fmt.Errorf("read %s: not a short regular file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// Listed is one worktree of ours as its repository knows it.
type Listed struct {
	Session turn.SessionID
	Path    string
	// Branch is short, "" if the worktree is on none now; Head is its commit.
	Branch string
	Head   OID
	// Missing says that there is nothing at Path.
	Missing bool
}

// List gives all worktrees of ours that the repository of the checkout at dir
// has, whether or not anybody else still knows of them.
func (k *Keeper) List(ctx context.Context, dir string) ([]Listed, error) {
	repo, err := k.locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := k.run.run(ctx, repo.command("worktree", "list", "--porcelain", "-z"))
	if err != nil {
		return nil, refuse(turn.GitFailed, err, "Git cannot list the repository's worktrees")
	}
	var all []Listed
	for record := range strings.SplitSeq(string(out), "\x00\x00") {
		var l Listed
		for line := range strings.SplitSeq(record, "\x00") {
			switch key, value, _ := strings.Cut(line, " "); key {
			case "worktree":
				l.Path = value
			case "HEAD":
				l.Head = OID(value)
			case "branch":
				l.Branch = strings.TrimPrefix(value, "refs/heads/")
			case "locked":
				l.Session = sessionOf(value)
			}
		}
		if l.Session == "" {
			continue
		}
		_, err := os.Lstat(l.Path)
		l.Missing = errors.Is(err, fs.ErrNotExist)
		all = append(all, l)
	}
	return all, nil
}
