package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

const patchText = "diff --git a/a b/a\n\x00\xff binary \x1b[31m\n"

func (e *engine) ask(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, fmt.Sprintf(format, args...))
}

func (e *engine) Waiting(context.Context) ([]session.Waiting, error) { return e.waiting, nil }

func (e *engine) Approve(_ context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	e.ask("approve %s %d", id, generation)
	s := e.states[id]
	s.Status = turn.Starting
	return s, nil
}

func (e *engine) Deny(_ context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	e.ask("deny %s %d", id, generation)
	s := e.states[id]
	s.Status = turn.Stopped
	return s, nil
}

func (e *engine) Writes(_ context.Context, id turn.SessionID) ([]session.Write, error) {
	return e.written[id], nil
}

func (e *engine) FindWrites(_ context.Context, prefix string, limit int) ([]session.Write, error) {
	var found []session.Write
	for _, s := range e.list {
		for _, w := range e.written[s.SessionID] {
			if strings.HasPrefix(string(w.ActionID), prefix) && len(found) < limit {
				found = append(found, w)
			}
		}
	}
	return found, nil
}

func (e *engine) UndoAction(_ context.Context, id turn.ActionID, dryRun bool) (session.UndoReport, error) {
	e.ask("undo %s %t", id, dryRun)
	return session.UndoReport{DryRun: dryRun, Conflicts: []session.UndoStep{},
		Undone: []session.UndoStep{{ActionID: id, Name: "Write", Path: "/srv/docs/a\x1b.md", Text: "It would be removed."}}}, nil
}

func (e *engine) UndoSession(_ context.Context, id turn.SessionID, dryRun bool) (session.UndoReport, error) {
	e.ask("undo %s %t", id, dryRun)
	return session.UndoReport{DryRun: dryRun,
		Undone:    []session.UndoStep{{ActionID: "act_two", Name: "Edit", Path: "/srv/b", Text: "Restored b."}},
		Conflicts: []session.UndoStep{{ActionID: "act_one", Name: "Write", Path: "/srv/a", Text: "a has changed since"}}}, nil
}

func (e *engine) Trusts(context.Context) ([]session.Trust, error) { return e.trusts, nil }

func (e *engine) RevokeTrust(_ context.Context, folder string) ([]session.Trust, error) {
	e.ask("revoke %s", folder)
	var revoked []session.Trust
	for _, t := range e.trusts {
		if t.Folder == folder {
			revoked = append(revoked, t)
		}
	}
	if revoked == nil {
		return nil, turn.Refuse(turn.NotTrusted, "%s is not a trusted folder", folder)
	}
	return revoked, nil
}

func (e *engine) RevokeAllTrust(context.Context) ([]session.Trust, error) {
	e.ask("revoke all")
	return e.trusts, nil
}

func (e *engine) Worktrees(context.Context) ([]session.Worktree, error) { return e.trees, nil }

func (e *engine) WorktreeDiff(context.Context, turn.SessionID, int) (session.WorktreeDiff, error) {
	return session.WorktreeDiff{Files: docsFiles(),
		Diff:      "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n-old \x1b[31m\n+new \u202e\n same\n",
		Truncated: true, Skipped: []session.WorktreeNote{{Path: "sub\x1b", Reason: "it is a Git repository of its own"}}}, nil
}

func docsFiles() []session.WorktreeFile {
	return []session.WorktreeFile{
		{Path: "a.md", Kind: "modified", Added: 1, Removed: 1},
		{Path: "tool\u202e.sh", From: "old.sh", Kind: "renamed", Mode: true},
		{Path: "logo.png", Kind: "added", Binary: true},
	}
}

func (e *engine) WorktreePatch(_ context.Context, id turn.SessionID, w io.Writer) error {
	if id != sesDocs {
		_, err := io.WriteString(w, patchText[:5])
		return fmt.Errorf("broken: %w", err)
	}
	_, err := io.WriteString(w, patchText)
	return err
}

func (e *engine) ApplyWorktree(_ context.Context, id turn.SessionID, dryRun bool) (session.WorktreeApply, error) {
	e.ask("apply %s %t", id, dryRun)
	r := session.WorktreeApply{DryRun: dryRun, Source: "/srv/docs", Applied: docsFiles(), Already: []string{},
		Conflicts: []session.WorktreeNote{}, Skipped: []session.WorktreeNote{}}
	if id != sesDocs {
		r.Applied, r.Conflicts = nil, []session.WorktreeNote{{Path: "a.md", Reason: "both sides changed it"}}
	}
	return r, nil
}

func (e *engine) CommitWorktree(_ context.Context, id turn.SessionID, message string) (session.WorktreeCommit, error) {
	e.ask("commit %s %s", id, message)
	return session.WorktreeCommit{Branch: "deckhand/" + string(id), Commit: "c0ffee0123456789"}, nil
}

func (e *engine) RemoveWorktree(_ context.Context, id turn.SessionID, force bool) error {
	e.ask("remove %s %t", id, force)
	return nil
}

// sampleWrites gives the sample's sessions what they ask for and what they wrote.
func sampleWrites(e *engine, home string) {
	e.trusts = []session.Trust{
		{Profile: turn.DirectWrite, Folder: filepath.Join(home, "src/shop\x1b[31m"), Since: noon.Add(-49 * time.Hour)},
		{Profile: turn.WorktreeWrite, Folder: "/srv/docs", Since: noon.Add(-time.Minute)},
	}
	asks := e.states[sesAsks]
	asks.Workspace = session.Workspace{Kind: "direct", Root: filepath.Join(home, "src/prices")}
	asks.Approval = &session.Approval{State: "pending", ExpiresAt: noon.Add(9*time.Minute + 30*time.Second), Generation: 3}
	e.states[sesAsks] = asks
	e.waiting = []session.Waiting{{SessionID: sesAsks, Label: "prices", Profile: turn.DirectWrite, Folder: asks.Workspace.Root,
		Generation: 3, AskedAt: noon, ExpiresAt: asks.Approval.ExpiresAt, Prompt: "Round\x1b[2J up.\nThen \u202etest.\n"}}

	root := filepath.Join(home, ".deckhand/worktrees/docs-"+sesDocs)
	docs := e.states[sesDocs]
	docs.WorkingDirectory, docs.SourceDirectory = root, "/srv/docs"
	docs.Status = turn.Idle
	docs.Workspace = session.Workspace{Kind: "worktree", Root: root, Branch: "deckhand/" + sesDocs, BaseCommit: "0123456789abcdef0123456789abcdef01234567", Retained: true}
	docs.LastResult = &session.LastResult{RunID: "run_d", Outcome: "completed", Text: "Rounded up.", FinishedAt: noon.Add(-time.Hour),
		Changes: &session.Changes{Truncated: true, Diff: "--- a/a.md\n+++ b/a.md\n", Files: []session.FileChange{
			{Path: "a.md", Added: 2, Removed: 1},
			{Path: ".envrc", Added: 1, Notes: []string{"it runs by itself\x1b", "too large or not text, so its lines are not compared"}}}}}
	e.states[sesDocs] = docs
	e.trees = []session.Worktree{
		{SessionID: sesDocs, Status: turn.Idle, CreatedAt: noon.Add(-26 * time.Hour), Path: root, Branch: docs.Workspace.Branch,
			BaseCommit: docs.Workspace.BaseCommit, Source: "/srv/docs", Files: 3, Added: 12, Removed: 4},
		{SessionID: sesOld, Label: "old\x1b", Status: turn.Stopped, CreatedAt: noon.Add(-30 * time.Second), Path: "/w/old", Source: "/srv/old"},
		{SessionID: sesLost, Status: turn.RecoveryRequired, CreatedAt: noon, Path: "/w/lost", Source: "/srv/lost", Problem: "the worktree was removed or moved away"},
	}
	e.written = map[turn.SessionID][]session.Write{
		sesDocs: {
			{ActionID: "act_7hq2aaaaaaaaaaaa", RunID: "run_d", Name: "Write", Path: filepath.Join(root, ".envrc"), At: noon, Created: true,
				Notes: []string{"it runs by itself\x1b"}},
			{ActionID: "act_9999aaaaaaaaaaaa", RunID: "run_d", Name: "Edit", Path: filepath.Join(root, "a.md"), At: noon.Add(-25 * time.Hour), UndoneBy: "act_u"},
		},
	}
	lost := e.states[sesLost]
	lost.Workspace = session.Workspace{Kind: "direct", Root: "/srv/lost"}
	e.states[sesLost] = lost
	for i := range maxWritesShown + 2 {
		e.written[sesLost] = append(e.written[sesLost], session.Write{
			ActionID: turn.ActionID(fmt.Sprintf("act_bbbbbbbbbb%02d", i)), Name: "Write", Path: fmt.Sprintf("/srv/lost/%d", i), At: noon})
	}
	oldest := &e.written[sesLost][maxWritesShown+1]
	oldest.At, oldest.Forgotten = noon.Add(-31*24*time.Hour), noon.Add(-24*time.Hour)
}

func (e *engine) Prune(_ context.Context, targets []session.PruneTarget, dryRun bool) (session.PruneReport, error) {
	e.ask("prune %d %t", len(targets), dryRun)
	return session.PruneReport{DryRun: dryRun, Pruned: targets, Kept: []session.PruneKept{}}, nil
}
