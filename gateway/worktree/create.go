package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/turn"
)

// mark is a file in the registration that says that the worktree is whole. Git
// does not look at it, and removes it with the registration.
const mark = "deckhand"

// marked is what the mark holds.
type marked struct {
	Session turn.SessionID `json:"session"`
	Device  uint64         `json:"device"`
	Inode   uint64         `json:"inode"`
	Commit  OID            `json:"commit"`
}

// making is the state of one Create.
type making struct {
	k    *Keeper
	src  *repository
	plan Plan
	// commit is what the worktree will begin with.
	commit OID
	held   *os.File
}

// Create makes the worktree of a plan, or completes what an earlier call of the
// same plan began. It returns when the worktree holds what the commit holds,
// its index is valid, and all of it is on the disk. What stands in the way and
// is not provably ours is refused with WorktreeOccupied and left alone.
func (k *Keeper) Create(ctx context.Context, source Source, plan Plan) (Tree, error) {
	held, release, err := k.hold(ctx, plan.Session)
	if err != nil {
		return Tree{}, err
	}
	defer release()
	src, err := k.locate(ctx, source.Dir)
	if err != nil {
		return Tree{}, err
	}
	if src.commonDir != source.CommonDir {
		return Tree{}, turn.Refuse(turn.WorkingDirectoryInvalid, "the directory belongs to another repository than before")
	}
	if plan, err = plan.check(src); err != nil {
		return Tree{}, err
	}
	m := &making{k: k, src: src, plan: plan, commit: source.Commit, held: held}
	registration, err := m.register(ctx)
	if err != nil {
		return Tree{}, err
	}
	tree := Tree{Session: plan.Session, Path: plan.Path, Branch: plan.Branch, Commit: source.Commit,
		Source: src.dir, CommonDir: src.commonDir, Registration: registration}
	if tree.Device, tree.Inode, err = identity(plan.Path); err != nil {
		return Tree{}, refuse(turn.WorktreeOccupied, err, "the worktree vanished while it was made")
	}
	whole, err := m.whole(tree)
	if err != nil {
		return Tree{}, err
	}
	if !whole {
		if err := m.fill(ctx, tree); err != nil {
			return Tree{}, err
		}
	}
	if err := k.Verify(ctx, tree); err != nil {
		return Tree{}, err
	}
	return tree, nil
}

// check refuses plans that cannot be carried out and makes the path real.
func (p Plan) check(src *repository) (Plan, error) {
	invalid := func(format string, args ...any) (Plan, error) {
		return p, turn.Refuse(turn.InvalidArguments, format, args...)
	}
	if p.Branch != branchPrefix+string(p.Session) {
		return invalid("the worktree's branch is not %s%s", branchPrefix, p.Session)
	}
	if !filepath.IsAbs(p.Path) || filepath.Clean(p.Path) != p.Path || p.Path == "/" {
		return invalid("the worktree's path is not absolute and clean")
	}
	if strings.ContainsFunc(p.Path, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return invalid("the worktree's path holds blanks or control characters")
	}
	if !strings.Contains(filepath.Base(p.Path), string(p.Session)) {
		return invalid("the worktree's name does not hold its session")
	}
	parent := filepath.Dir(p.Path)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return p, refuse(turn.OSPermissionDenied, err, "the folder for worktrees cannot be made")
	}
	parent, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return p, refuse(turn.OSPermissionDenied, err, "the folder for worktrees cannot be reached")
	}
	info, err := os.Stat(parent)
	if err != nil {
		return p, refuse(turn.OSPermissionDenied, err, "the folder for worktrees cannot be reached")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return invalid("other users may write in the folder for worktrees; its mode should be 0700")
	}
	if err := owned(parent); err != nil {
		return invalid("the folder for worktrees belongs to another user")
	}
	p.Path = filepath.Join(parent, filepath.Base(p.Path))
	for _, dir := range []string{src.dir, src.gitDir, src.commonDir} {
		if within(p.Path, dir) {
			return invalid("the worktree's path lies in the repository itself")
		}
	}
	return p, nil
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// register makes the branch, the directory and the registration, unless they
// are there already, and gives the registration.
func (m *making) register(ctx context.Context) (string, error) {
	registration, err := m.settle(ctx)
	if err != nil || registration != "" {
		return registration, err
	}
	if err := m.k.step("settled"); err != nil {
		return "", err
	}
	c := m.src.command("worktree", "add", "--no-checkout", "--lock", "--reason", reason(m.plan.Session),
		"-b", m.plan.Branch, m.plan.Path, string(m.commit))
	c.held = m.held
	if _, err := m.k.run.run(ctx, c); err != nil {
		if blocked, lookErr := m.k.resolve(ctx, m.src, "refs/heads/deckhand"); lookErr == nil && blocked != "" {
			return "", turn.RefuseFor(turn.WorktreeOccupied, err, "a branch named deckhand stands in the way of branches under deckhand/; rename it")
		}
		return "", refuse(turn.GitFailed, err, "Git cannot add the worktree")
	}
	if err := m.k.step("registered"); err != nil {
		return "", err
	}
	if registration, err = m.settle(ctx); err == nil && registration == "" {
		err = turn.Refuse(turn.GitFailed, "Git added a worktree that cannot be found")
	}
	return registration, err
}

// settle finds what is left of an earlier call. A complete registration is
// returned; an incomplete one of ours is taken away, with its branch and its
// directory, so that all can begin anew. Anything else in the way is refused.
func (m *making) settle(ctx context.Context) (string, error) {
	entries, err := os.ReadDir(filepath.Join(m.src.commonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", refuse(turn.GitFailed, err, "the repository's worktrees cannot be read")
	}
	for _, e := range entries {
		registration := filepath.Join(m.src.commonDir, "worktrees", e.Name())
		if !e.IsDir() || !m.ours(registration, e.Name()) {
			continue
		}
		whole, err := m.complete(ctx, registration)
		if err != nil {
			return "", err
		}
		if whole {
			return registration, nil
		}
		// It never was more than Git's own half-written files.
		if err := os.RemoveAll(registration); err != nil {
			return "", refuse(turn.GitFailed, err, "the rest of an interrupted start cannot be removed")
		}
	}
	if err := m.clearPath(); err != nil {
		return "", err
	}
	return "", m.clearBranch(ctx)
}

// ours reports whether a registration was made for this plan: Git writes the
// reason of the lock before anything else, into a directory that is named after
// the worktree, and so after the session.
func (m *making) ours(registration, name string) bool {
	if lock, err := readSmall(filepath.Join(registration, "locked")); err == nil {
		return sessionOf(lock) == m.plan.Session
	}
	inside, err := os.ReadDir(registration)
	return err == nil && len(inside) == 0 && strings.HasPrefix(name, filepath.Base(m.plan.Path))
}

// complete reports whether Git finished a registration of ours.
func (m *making) complete(ctx context.Context, registration string) (bool, error) {
	back, err := readSmall(filepath.Join(registration, "gitdir"))
	if err != nil {
		return false, nil
	}
	if back != filepath.Join(m.plan.Path, ".git") {
		return false, turn.Refuse(turn.WorktreeOccupied, "the session already has a worktree at another path")
	}
	pointer, err := readSmall(filepath.Join(m.plan.Path, ".git"))
	if err != nil || pointer != "gitdir: "+registration {
		if _, markErr := os.Lstat(filepath.Join(registration, mark)); markErr == nil {
			return false, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree was made, and was removed or changed since")
		}
		return false, nil
	}
	view := *m.src
	view.dir, view.gitDir = m.plan.Path, registration
	out, err := m.k.run.run(ctx, view.command("symbolic-ref", "-q", "HEAD"))
	if err != nil || strings.TrimSpace(string(out)) != "refs/heads/"+m.plan.Branch {
		if _, markErr := os.Lstat(filepath.Join(registration, mark)); markErr == nil {
			return false, turn.RefuseFor(turn.WorktreeChanged, err, "the worktree is not on its branch any more")
		}
		return false, nil
	}
	return true, nil
}

// clearPath takes away the directory of a worktree that was never registered:
// it holds at most Git's pointer.
func (m *making) clearPath() error {
	entries, err := os.ReadDir(m.plan.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	occupied := turn.RefuseFor(turn.WorktreeOccupied, err, "something that Deckhand did not make stands at the worktree's path")
	if _, _, err := identity(m.plan.Path); err != nil || len(entries) > 1 {
		return occupied
	}
	for _, e := range entries {
		pointer, err := readSmall(filepath.Join(m.plan.Path, e.Name()))
		whose := strings.TrimPrefix(pointer, "gitdir: ")
		if e.Name() != ".git" || err != nil || pointer != "" && !within(whose, filepath.Join(m.src.commonDir, "worktrees")) {
			return occupied
		}
		if err := os.Remove(filepath.Join(m.plan.Path, ".git")); err != nil {
			return refuse(turn.GitFailed, err, "the rest of an interrupted start cannot be removed")
		}
	}
	if err := os.Remove(m.plan.Path); err != nil {
		return refuse(turn.GitFailed, err, "the rest of an interrupted start cannot be removed")
	}
	return nil
}

// clearBranch takes away the branch of a worktree that was never registered, if
// nobody has used it since.
func (m *making) clearBranch(ctx context.Context) error {
	ref := "refs/heads/" + m.plan.Branch
	at, err := m.k.resolve(ctx, m.src, ref)
	if err != nil {
		return refuse(turn.GitFailed, err, "Git cannot read the worktree's branch")
	}
	if at == "" {
		return nil
	}
	if at != m.commit {
		return turn.Refuse(turn.WorktreeOccupied, "the branch %s exists and stands at another commit", m.plan.Branch)
	}
	if _, err := m.k.run.run(ctx, m.src.command("update-ref", "-d", ref, string(m.commit))); err != nil {
		return refuse(turn.GitFailed, err, "the branch of an interrupted start cannot be removed")
	}
	return nil
}

// whole reports whether an earlier call filled the worktree. If another
// directory stands there since, that is refused.
func (m *making) whole(tree Tree) (bool, error) {
	text, err := readSmall(filepath.Join(tree.Registration, mark))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var was marked
	if err == nil {
		err = json.Unmarshal([]byte(text), &was)
	}
	if err != nil {
		return false, refuse(turn.WorktreeChanged, err, "Deckhand's mark on the worktree cannot be read")
	}
	if was != (marked{tree.Session, tree.Device, tree.Inode, tree.Commit}) {
		return false, turn.Refuse(turn.WorktreeChanged, "another directory stands at the worktree's path, or another commit was asked for")
	}
	return true, nil
}

// setMark says that the worktree is whole.
func (m *making) setMark(tree Tree) error {
	text, err := json.Marshal(marked{tree.Session, tree.Device, tree.Inode, tree.Commit})
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(tree.Registration, mark), append(text, '\n'), 0o600)
	}
	if err != nil {
		return refuse(turn.GitFailed, err, "the worktree cannot be marked as complete")
	}
	return nil
}
