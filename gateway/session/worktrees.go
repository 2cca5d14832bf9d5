package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// looksAtOnce is how many worktrees are compared with their commits at a time.
const looksAtOnce = 4

// Worktree is the worktree of one session, in a list.
type Worktree struct {
	SessionID turn.SessionID `json:"native_session_id"`
	Label     string         `json:"session_label"`
	Status    turn.Status    `json:"status"`
	CreatedAt time.Time      `json:"created_at"`
	Path      string         `json:"path"`
	Branch    string         `json:"branch"`
	// BaseCommit is what the worktree began with, Source the checkout that it
	// was made of.
	BaseCommit string `json:"base_commit"`
	Source     string `json:"source"`
	// Files, Added and Removed count what differs from BaseCommit, committed or
	// not. They are 0 if Problem is set.
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Problem says why nobody can tell what the worktree holds, "" if one can.
	Problem string `json:"problem,omitempty"`
}

// WorktreeFile is one file that a worktree changed. Paths are relative to its
// top level.
type WorktreeFile struct {
	Path string `json:"path"`
	// From is where a renamed file came from.
	From string `json:"from,omitempty"`
	// Kind is "added", "modified", "deleted", "renamed" or "retyped".
	Kind string `json:"kind"`
	// Added and Removed count lines; both are 0 if Binary is set.
	Added   int  `json:"added"`
	Removed int  `json:"removed"`
	Binary  bool `json:"binary,omitempty"`
	// Mode says that the executable bit changed.
	Mode bool `json:"mode,omitempty"`
}

// WorktreeDiff is what a worktree changed since the commit that it began with,
// whether or not it was committed since.
type WorktreeDiff struct {
	Files []WorktreeFile `json:"files"`
	// Diff is a unified diff for people, cut after a whole line.
	Diff      string `json:"diff"`
	Truncated bool   `json:"truncated"`
	// Skipped will not be brought home.
	Skipped []WorktreeNote `json:"skipped"`
}

// WorktreeNote is something that is not brought home, and why.
type WorktreeNote struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// WorktreeApply says what ApplyWorktree did or, for a dry run, would do. If
// there are conflicts nothing was written.
type WorktreeApply struct {
	DryRun bool   `json:"dry_run"`
	Source string `json:"source"`
	// Applied are the files of the source that were written or removed, Already
	// those that held the worktree's state before.
	Applied   []WorktreeFile `json:"applied"`
	Already   []string       `json:"already"`
	Conflicts []WorktreeNote `json:"conflicts"`
	Skipped   []WorktreeNote `json:"skipped"`
}

// WorktreeCommit is a commit on a worktree's branch.
type WorktreeCommit struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
}

// Worktrees lists the worktrees of all sessions, newest first. One that is
// neither on the disk nor known to Git any more is not among them.
func (e *Engine) Worktrees(ctx context.Context) ([]Worktree, error) {
	views, err := e.ledger.Views()
	if err != nil {
		return nil, err
	}
	list := []Worktree{}
	var trees []worktree.Tree
	for _, v := range views {
		w := v.Session.Workspace
		if len(w.Tree) == 0 {
			continue
		}
		tree, err := treeOf(w)
		if err != nil {
			return nil, err
		}
		if gone(tree.Path) && gone(tree.Registration) {
			continue
		}
		trees = append(trees, tree)
		list = append(list, Worktree{
			SessionID: v.Session.ID, Label: v.Session.Label, Status: v.Session.Status, CreatedAt: v.Session.CreatedAt,
			Path: tree.Path, Branch: tree.Branch, BaseCommit: string(tree.Commit), Source: tree.Source,
		})
	}
	var work sync.WaitGroup
	free := make(chan struct{}, looksAtOnce)
	for i := range list {
		work.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			e.lookAt(ctx, trees[i], &list[i])
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return list, nil
}

// lookAt counts what a worktree changed.
func (e *Engine) lookAt(ctx context.Context, tree worktree.Tree, w *Worktree) {
	if e.cfg.Worktrees == nil {
		w.Problem = noGit
		return
	}
	changes, err := e.cfg.Worktrees.Diff(ctx, tree, 0)
	if err != nil {
		w.Problem = "it cannot be compared with its commit"
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Detail != "" {
			w.Problem = refusal.Detail
		}
		if ctx.Err() == nil {
			e.cfg.Log.Warn("look at worktree", "session", tree.Session, "err", err)
		}
		return
	}
	w.Files = len(changes.Files)
	for _, f := range changes.Files {
		w.Added += f.Added
		w.Removed += f.Removed
	}
}

const noGit = "git is missing or too old on this machine"

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// WorktreeDiff compares a session's worktree with the commit that it began
// with. The text holds at most maxDiff bytes; 0 gives the list alone.
func (e *Engine) WorktreeDiff(ctx context.Context, id turn.SessionID, maxDiff int) (WorktreeDiff, error) {
	tree, _, err := e.worktreeOf(id)
	if err != nil {
		return WorktreeDiff{}, err
	}
	changes, err := e.cfg.Worktrees.Diff(ctx, tree, maxDiff)
	if err != nil {
		return WorktreeDiff{}, err
	}
	return WorktreeDiff{
		Files: filesOf(changes.Files), Diff: changes.Diff, Truncated: changes.Truncated, Skipped: notesOf(changes.Skipped),
	}, nil
}

// WorktreePatch writes what git apply takes to make a session's changes
// elsewhere. After an error w may have got a part of it.
func (e *Engine) WorktreePatch(ctx context.Context, id turn.SessionID, w io.Writer) error {
	tree, _, err := e.worktreeOf(id)
	if err != nil {
		return err
	}
	return e.cfg.Worktrees.Patch(ctx, tree, w)
}

// ApplyWorktree brings what a session changed into the checkout that its
// worktree was made of. While a run goes on only a dry run is done: half a
// change brought home would stand in the way of the other half. Once begun it is
// not given up when ctx ends.
func (e *Engine) ApplyWorktree(ctx context.Context, id turn.SessionID, dryRun bool) (WorktreeApply, error) {
	tree, running, err := e.worktreeOf(id)
	if err != nil {
		return WorktreeApply{}, err
	}
	if !dryRun {
		if err := atRest(id, running); err != nil {
			return WorktreeApply{}, err
		}
	}
	report, err := e.cfg.Worktrees.Apply(context.WithoutCancel(ctx), tree, dryRun)
	return WorktreeApply{
		DryRun: dryRun, Source: tree.Source, Applied: filesOf(report.Applied), Already: append([]string{}, report.Already...),
		Conflicts: notesOf(report.Conflicts), Skipped: notesOf(report.Skipped),
	}, err
}

// CommitWorktree records what a session's worktree holds as a commit on its
// branch. It refuses while a run goes on.
func (e *Engine) CommitWorktree(ctx context.Context, id turn.SessionID, message string) (WorktreeCommit, error) {
	tree, running, err := e.worktreeOf(id)
	if err != nil {
		return WorktreeCommit{}, err
	}
	if err := atRest(id, running); err != nil {
		return WorktreeCommit{}, err
	}
	commit, err := e.cfg.Worktrees.Commit(context.WithoutCancel(ctx), tree, message)
	return WorktreeCommit{Branch: tree.Branch, Commit: string(commit)}, err
}

// RemoveWorktree removes a session's worktree; the branch stays. It refuses
// while a run goes on, forced or not, and without force what would lose
// anything.
func (e *Engine) RemoveWorktree(ctx context.Context, id turn.SessionID, force bool) error {
	tree, running, err := e.worktreeOf(id)
	if err != nil {
		return err
	}
	if err := atRest(id, running); err != nil {
		return err
	}
	return e.cfg.Worktrees.Remove(context.WithoutCancel(ctx), tree, force)
}

// worktreeOf returns the worktree of a session and whether a run of it has not
// ended. It refuses with unknown_session, git_unavailable, and not_found if the
// session has no worktree.
func (e *Engine) worktreeOf(id turn.SessionID) (tree worktree.Tree, running bool, err error) {
	v, err := e.ledger.View(id)
	if err != nil {
		return tree, false, err
	}
	w := v.Session.Workspace
	switch {
	case w.Kind != kindWorktree:
		return tree, false, turn.Refuse(turn.NotFound, "session %s has no worktree: its profile is %s", id, v.Session.Profile)
	case len(w.Tree) == 0:
		return tree, false, turn.Refuse(turn.NotFound, "the worktree of session %s has not been made yet", id)
	case e.cfg.Worktrees == nil:
		return tree, false, turn.Refuse(turn.GitUnavailable, noGit)
	}
	tree, err = treeOf(w)
	if err == nil && gone(tree.Path) && gone(tree.Registration) {
		err = turn.Refuse(turn.NotFound, "the worktree of session %s was removed; its branch is %s", id, tree.Branch)
	}
	return tree, v.Run.ID != "" && v.Run.Open(), err
}

// atRest refuses while something may write in a session's worktree.
func atRest(id turn.SessionID, running bool) error {
	if !running {
		return nil
	}
	return turn.Refuse(turn.RunActive, "a run of the session is going on; let it end, or end it with: deckhand stop %s", id)
}

func filesOf(changes []worktree.FileChange) []WorktreeFile {
	files := make([]WorktreeFile, len(changes))
	for i, c := range changes {
		files[i] = WorktreeFile{Path: c.Path, From: c.From, Kind: string(c.Kind), Added: c.Added, Removed: c.Removed, Binary: c.Binary, Mode: c.Mode}
	}
	return files
}

// notesOf also makes a list that is never null in JSON.
func notesOf[T worktree.Skipped | worktree.Conflict](list []T) []WorktreeNote {
	notes := make([]WorktreeNote, len(list))
	for i, n := range list {
		notes[i] = WorktreeNote(n)
	}
	return notes
}

// Write is one write of a session that changed a file.
type Write struct {
	ActionID turn.ActionID `json:"action_id"`
	RunID    turn.RunID    `json:"run_id"`
	Name     string        `json:"name"`
	Path     string        `json:"path"`
	At       time.Time     `json:"at"`
	Created  bool          `json:"created,omitempty"`
	// Notes are what a person should know of the write.
	Notes []string `json:"notes,omitempty"`
	// UndoneBy is the action that took the write back, "" if none did.
	UndoneBy turn.ActionID `json:"undone_by,omitempty"`
}

// Writes lists the writes of a session, newest first, undone ones included.
func (r *Reader) Writes(_ context.Context, id turn.SessionID) ([]Write, error) {
	actions, err := r.ledger.Writes(id)
	if err != nil {
		return nil, err
	}
	writes := []Write{}
	for _, a := range slices.Backward(actions) {
		writes = append(writes, writeOf(a))
	}
	return writes, nil
}

func writeOf(a ledger.ActionRecord) Write {
	return Write{
		ActionID: a.ID, RunID: a.Run, Name: a.Name, Path: a.Intent.Path, At: a.Receipt.FinishedAt,
		Created: a.Receipt.Write.Created, Notes: a.Receipt.Write.Notes, UndoneBy: a.UndoneBy,
	}
}

// FindWrites returns the writes of all sessions whose action id begins with
// prefix, up to limit.
func (r *Reader) FindWrites(ctx context.Context, prefix string, limit int) ([]Write, error) {
	views, err := r.ledger.Views()
	if err != nil {
		return nil, err
	}
	found := []Write{}
	for _, v := range views {
		if !v.Session.Profile.Writes() {
			continue
		}
		writes, err := r.Writes(ctx, v.Session.ID)
		if err != nil {
			return nil, err
		}
		for _, w := range writes {
			if strings.HasPrefix(string(w.ActionID), prefix) && len(found) < limit {
				found = append(found, w)
			}
		}
	}
	return found, nil
}

// Waiting is a session that a person has to allow before it starts.
type Waiting struct {
	SessionID turn.SessionID `json:"native_session_id"`
	Label     string         `json:"session_label"`
	Profile   turn.Profile   `json:"capability_profile"`
	// Folder is where it wants to work: for a worktree, what that is made of.
	Folder     string    `json:"folder"`
	Generation int       `json:"generation"`
	AskedAt    time.Time `json:"asked_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	// Prompt is what it would do first, and may be cut.
	Prompt string `json:"prompt"`
}

// Waiting lists the sessions that wait for a person, newest first.
func (r *Reader) Waiting(context.Context) ([]Waiting, error) {
	views, err := r.ledger.Views()
	if err != nil {
		return nil, err
	}
	list := []Waiting{}
	for _, v := range views {
		s := v.Session
		if s.Status != turn.AwaitingApproval {
			continue
		}
		prompt, err := r.ledger.Text(s.Approval.Prompt)
		if err != nil {
			return nil, err
		}
		prompt, _ = shorten(prompt, maxResultText, "of this prompt")
		list = append(list, Waiting{
			SessionID: s.ID, Label: s.Label, Profile: s.Profile, Folder: cmp.Or(s.Workspace.Source, s.WorkingDirectory),
			Generation: s.Approval.Generation, AskedAt: s.CreatedAt, ExpiresAt: s.Approval.ExpiresAt, Prompt: prompt,
		})
	}
	return list, nil
}
