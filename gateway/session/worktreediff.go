package session

import (
	"context"
	"io"

	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

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

// WorktreeDiff compares a session's worktree with the commit that it began
// with. The text holds at most maxDiff bytes; 0 gives the list alone.
func (e *Engine) WorktreeDiff(ctx context.Context, id turn.SessionID, maxDiff int) (WorktreeDiff, error) {
	tree, err := e.worktreeOf(id)
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
	tree, err := e.worktreeOf(id)
	if err != nil {
		return err
	}
	return e.cfg.Worktrees.Patch(ctx, tree, w)
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
