package main

import (
	"path/filepath"

	"deckhand/gateway/session"
	"deckhand/tray"
)

// maxWritesShown is how many writes are shown without --full.
const maxWritesShown = 10

// workspace prints where a session works and writes.
func (s sheet) workspace(snap session.Snapshot) {
	w := snap.Workspace
	if w.Kind != "worktree" {
		s.line("folder", "%s", s.home(snap.WorkingDirectory))
		return
	}
	gone := ""
	if removed(w) {
		gone = "  " + s.yellow("(removed)")
	}
	s.line("worktree", "%s%s", s.home(w.Root), gone)
	s.line("made of", "%s at %s", s.home(snap.SourceDirectory), w.BaseCommit[:min(12, len(w.BaseCommit))])
	s.line("branch", "%s", tray.Clean(w.Branch))
}

// removed reports whether a session's worktree was removed, or its removal was
// begun.
func removed(w session.Workspace) bool { return w.Kind == "worktree" && !w.Retained }

// writes lists what a session wrote, with the ids that undo takes.
func (s sheet) writes(snap shownSession) {
	if len(snap.Writes) == 0 {
		return
	}
	s.printf("\n%s\n", s.bold("Writes, newest first"))
	ids := make([]string, len(snap.Writes))
	for i, w := range snap.Writes {
		ids[i] = string(w.ActionID)
	}
	short := shortIDs(actionPrefix, ids)
	left, undoable := 0, 0
	for i, w := range snap.Writes {
		if w.UndoneBy == "" {
			left++
			if w.Forgotten.IsZero() {
				undoable++
			}
		}
		if i >= maxWritesShown && !s.full {
			continue
		}
		mark, note := s.green("✓"), ""
		switch {
		case w.UndoneBy != "":
			mark, note = "○", "  "+s.dim("(undone)")
		case !w.Forgotten.IsZero():
			note = "  " + s.dim("(too old to be undone)")
		case w.Created:
			note = "  " + s.dim("(new)")
		}
		s.printf("  %s %s  %s  %s %s%s\n", mark, short(string(w.ActionID)), s.dim(s.at(w.At)), tray.Clean(w.Name), s.below(snap.Workspace.Root, w.Path), note)
		for _, n := range w.Notes {
			s.printf("      %s\n", s.yellow("▲ "+tray.Clean(n)))
		}
	}
	if n := len(snap.Writes) - maxWritesShown; n > 0 && !s.full {
		s.printf("  %s\n", s.dim(counted(n, "older write", "older writes")+", see --full"))
	}
	if removed(snap.Workspace) {
		left, undoable = 0, 0
	}
	if undoable > 0 {
		s.printf("  %s\n", s.dim("to take one back: deckhand undo ACTION; all of them: deckhand undo "+string(snap.SessionID)))
	}
	if left > 0 && snap.Workspace.Kind == "worktree" && !snap.Status.Live() {
		s.printf("  %s\n", s.dim("to bring them home: deckhand worktrees apply "+string(snap.SessionID)))
	}
}

// below shortens a path below the folder that a session writes in.
func (s sheet) below(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return tray.Clean(rel)
	}
	return s.home(path)
}
