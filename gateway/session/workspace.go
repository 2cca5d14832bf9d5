package session

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// The kinds of workspaces, beside "" for a session that writes nowhere.
const (
	kindDirect   = "direct"
	kindWorktree = "worktree"
)

// worktreePlan is how a worktree is to be made, as the ledger keeps it from
// before it is made.
type worktreePlan struct {
	Source worktree.Source `json:"source"`
	Plan   worktree.Plan   `json:"plan"`
}

// workspaceFor decides where a new session writes. It changes nothing.
func (e *Engine) workspaceFor(ctx context.Context, id turn.SessionID, profile turn.Profile, dir string) (ledger.WorkspaceRecord, error) {
	switch profile {
	case turn.DirectWrite:
		if err := e.cfg.Executor.CheckRoot(dir); err != nil {
			return ledger.WorkspaceRecord{}, err
		}
		identity, err := identityOf(dir)
		return ledger.WorkspaceRecord{Kind: kindDirect, Root: dir, Identity: identity}, err
	case turn.WorktreeWrite:
		if e.cfg.Worktrees == nil {
			return ledger.WorkspaceRecord{}, turn.Refuse(turn.ProfileUnavailable, "git is missing or too old on this machine; direct_write works without it")
		}
		source, err := e.cfg.Worktrees.Inspect(ctx, dir)
		if err != nil {
			return ledger.WorkspaceRecord{}, err
		}
		plan := worktree.PlanFor(e.cfg.WorktreeRoot, source, id)
		encoded, err := json.Marshal(worktreePlan{Source: source, Plan: plan})
		return ledger.WorkspaceRecord{
			Kind: kindWorktree, Root: plan.Path, Source: source.Dir, Branch: plan.Branch,
			BaseCommit: string(source.Commit), Plan: encoded,
		}, err
	}
	return ledger.WorkspaceRecord{}, nil
}

// openWorkspace makes sure that a session's write root is what it was: it
// makes the worktree of a new session, and verifies everything else.
func (e *Engine) openWorkspace(ctx context.Context, s ledger.SessionRecord) error {
	w := s.Workspace
	switch {
	case w.Kind == kindWorktree && len(w.Tree) == 0:
		var p worktreePlan
		if err := json.Unmarshal(w.Plan, &p); err != nil {
			return fmt.Errorf("decode plan of worktree: %w", err)
		}
		tree, err := e.cfg.Worktrees.Create(ctx, p.Source, p.Plan)
		if err != nil {
			return err
		}
		encoded, err := json.Marshal(tree)
		if err != nil {
			return fmt.Errorf("encode worktree: %w", err)
		}
		return e.ledger.WorktreeMade(s.ID, encoded, turn.FileIdentity{Device: tree.Device, Inode: tree.Inode})
	default:
		return e.verifyWorkspace(ctx, s)
	}
}

// verifyWorkspace refuses a write root that is not the directory, or not the
// worktree, that the session was made with, or that is being removed.
func (e *Engine) verifyWorkspace(ctx context.Context, s ledger.SessionRecord) error {
	if err := s.Retired(); err != nil {
		return err
	}
	w := s.Workspace
	switch {
	case w.Kind == kindDirect:
		identity, err := identityOf(w.Root)
		if err != nil || identity != w.Identity {
			return turn.RefuseFor(turn.RecoveryRefused, err, "the directory that the session writes in was moved or replaced")
		}
	case w.Kind == kindWorktree && len(w.Tree) > 0:
		tree, err := treeOf(w)
		if err != nil {
			return err
		}
		return e.cfg.Worktrees.Verify(ctx, tree)
	}
	return nil
}

func treeOf(w ledger.WorkspaceRecord) (worktree.Tree, error) {
	var tree worktree.Tree
	if err := json.Unmarshal(w.Tree, &tree); err != nil {
		return tree, fmt.Errorf("decode worktree: %w", err)
	}
	return tree, nil
}

func identityOf(dir string) (turn.FileIdentity, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return turn.FileIdentity{}, turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "the directory cannot be read")
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return turn.FileIdentity{}, turn.Refuse(turn.WorkingDirectoryInvalid, "it is not a directory")
	}
	return turn.FileIdentity{Device: uint64(st.Dev), Inode: st.Ino}, nil
}
