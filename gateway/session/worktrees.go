package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
	// Removing says that its removal was begun. If that was interrupted, the same
	// command completes it.
	Removing bool `json:"removing,omitempty"`
	// Problem says why nobody can tell what the worktree holds, "" if one can.
	Problem string `json:"problem,omitempty"`
}

// Worktrees lists the worktrees of all sessions, newest first. One that is
// neither on the disk nor known to Git any more is not among them, unless its
// removal was begun here and nobody saw its end.
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
		removing := !w.Retired.IsZero()
		if !w.Removed.IsZero() || !removing && gone(tree.Path) && gone(tree.Registration) {
			continue
		}
		trees = append(trees, tree)
		list = append(list, Worktree{
			SessionID: v.Session.ID, Label: v.Session.Label, Status: v.Session.Status, CreatedAt: v.Session.CreatedAt,
			Path: tree.Path, Branch: tree.Branch, BaseCommit: string(tree.Commit), Source: tree.Source,
			Removing: removing,
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
	switch {
	case w.Removing:
		w.Problem = "its removal was begun; if it was interrupted, remove it again"
		return
	case e.cfg.Worktrees == nil:
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

// worktreeOf returns the worktree of a session for a call that works with it. It
// refuses with unknown_session, no_worktree, worktree_removed and
// git_unavailable.
func (e *Engine) worktreeOf(id turn.SessionID) (worktree.Tree, error) {
	v, err := e.ledger.View(id)
	if err != nil {
		return worktree.Tree{}, err
	}
	if err := v.Session.Retired(); err != nil {
		return worktree.Tree{}, err
	}
	tree, err := e.treeFor(v.Session)
	if err == nil && gone(tree.Path) && gone(tree.Registration) {
		err = turn.Refuse(turn.WorktreeRemoved, "the worktree of session %s is not there any more; what was committed is on its branch %s", id, tree.Branch)
	}
	return tree, err
}

// treeFor returns the worktree of a session as it was made, whether or not it is
// there.
func (e *Engine) treeFor(s ledger.SessionRecord) (worktree.Tree, error) {
	if err := s.HasWorktree(); err != nil {
		return worktree.Tree{}, err
	}
	if e.cfg.Worktrees == nil {
		return worktree.Tree{}, turn.Refuse(turn.GitUnavailable, noGit)
	}
	return treeOf(s.Workspace)
}
