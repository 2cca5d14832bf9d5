package session

import (
	"context"
	"errors"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

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

// ApplyWorktree brings what a session changed into the checkout that its
// worktree was made of. While a run goes on only a dry run is done: half a
// change brought home would stand in the way of the other half. Once begun it is
// not given up when ctx ends.
func (e *Engine) ApplyWorktree(ctx context.Context, id turn.SessionID, dryRun bool) (WorktreeApply, error) {
	tree, err := e.worktreeOf(id)
	if err != nil {
		return WorktreeApply{}, err
	}
	if !dryRun {
		if err := e.ledger.BeginWorktreeCall(id, ledger.ApplyCall); err != nil {
			return WorktreeApply{}, err
		}
	}
	report, err := e.cfg.Worktrees.Apply(context.WithoutCancel(ctx), tree, dryRun)
	if !dryRun {
		effect := ledger.WorktreeEffect{Files: len(report.Applied)}
		if err == nil && len(report.Conflicts) > 0 {
			effect.Code = turn.ApplyConflict
		}
		err = e.endWorktreeCall(id, ledger.ApplyCall, effect, err)
	}
	return WorktreeApply{
		DryRun: dryRun, Source: tree.Source, Applied: filesOf(report.Applied), Already: append([]string{}, report.Already...),
		Conflicts: notesOf(report.Conflicts), Skipped: notesOf(report.Skipped),
	}, err
}

// CommitWorktree records what a session's worktree holds as a commit on its
// branch. It refuses while a run goes on.
func (e *Engine) CommitWorktree(ctx context.Context, id turn.SessionID, message string) (WorktreeCommit, error) {
	tree, err := e.worktreeOf(id)
	if err != nil {
		return WorktreeCommit{}, err
	}
	if err := e.ledger.BeginWorktreeCall(id, ledger.CommitCall); err != nil {
		return WorktreeCommit{}, err
	}
	commit, err := e.cfg.Worktrees.Commit(context.WithoutCancel(ctx), tree, message)
	err = e.endWorktreeCall(id, ledger.CommitCall, ledger.WorktreeEffect{Commit: string(commit)}, err)
	return WorktreeCommit{Branch: tree.Branch, Commit: string(commit)}, err
}

// endWorktreeCall records how a call ended, which is with err if that is set,
// and returns both errors.
func (e *Engine) endWorktreeCall(id turn.SessionID, call ledger.WorktreeCall, effect ledger.WorktreeEffect, err error) error {
	if err != nil {
		effect.Code = codeOf(err)
	}
	return errors.Join(err, e.ledger.EndWorktreeCall(id, call, effect))
}
