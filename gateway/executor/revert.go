package executor

import (
	"context"
	"fmt"

	"deckhand/gateway/turn"
)

// Revert takes a write back: the file gets the content before again, or is
// removed, with the empty folders that the action made, if the action created
// it. It is a write like any other, with the same lock, steps and points, and
// happens only if the file still is what w left. Everything else, and whatever
// a write would be refused for, is undo_conflict with what was found; a fault of
// the disk keeps its own code.
func (e *Executor) Revert(ctx context.Context, w turn.WriteIntent, before []byte, sink Sink) turn.Result {
	sink = sink.filled()
	if w.Before.Exists && hashOf(before) != w.Before.SHA256 {
		return turn.Failure(turn.InternalError, "The content from before that was kept is not what the file had.")
	}
	t := target{root: "/", real: w.Path, asked: w.Path, limit: maxWrite}
	r := e.write(ctx, t, sink, func(was *original) (proposal, error) { return e.planRevert(w, before, was) })
	switch r.Code {
	case turn.FileChanged, turn.SymlinkRefused, turn.HardLinkRefused, turn.NotARegularFile, turn.NotADirectory,
		turn.ReadOnlyFile, turn.TooLarge, turn.ProtectedPath, turn.PseudoFileSystem, turn.OutsideWriteRoot, turn.NotFound:
		r.Code = turn.UndoConflict
	}
	return r
}

func (e *Executor) planRevert(w turn.WriteIntent, before []byte, was *original) (proposal, error) {
	name := showName(w.Path)
	switch now := was.state(); {
	case !now.Exists && w.After.Exists:
		return proposal{}, turn.Refuse(turn.UndoConflict, "%s does not exist any more, so there is nothing to take back", name)
	case now.Exists && !w.After.Exists:
		return proposal{}, turn.Refuse(turn.UndoConflict, "%s exists again, with %s and the SHA-256 %s; it is left as it is", name, count(now.Bytes, "byte"), now.SHA256)
	case !same(now, w.After):
		return proposal{}, turn.Refuse(turn.UndoConflict, "%s has changed since: it has %s and the SHA-256 %s now, and the write left %s. It is left as it is", name, count(now.Bytes, "byte"), now.SHA256, w.After.SHA256)
	}
	if !w.Before.Exists {
		return proposal{remove: true, folders: w.MadeDirs, say: func(turn.WriteIntent) string {
			return fmt.Sprintf("Removed %s, which the action had created%s.", name, e.foldersGone(w.MadeDirs))
		}}, nil
	}
	// An action keeps the mode, and a mode that the user changed since stays; it
	// only matters for a file that is made anew.
	return proposal{content: newContent{middle: before}, mode: w.Before.Mode, say: func(done turn.WriteIntent) string {
		return describe(done, "Restored")
	}}, nil
}

// foldersGone says which of the folders that an action made are gone again.
func (e *Executor) foldersGone(made []string) string {
	gone := 0
	for _, dir := range made {
		p, err := enter(e.protected.View(), "/", dir+"/x", dir)
		if err != nil {
			continue
		}
		if len(p.missing) > 0 {
			gone++
		}
		p.close()
	}
	switch {
	case gone == 0:
		return ""
	case gone == len(made):
		return fmt.Sprintf(", and the %s that it had made", count(int64(gone), "empty folder"))
	}
	return fmt.Sprintf(", and %d of the %s that it had made; the others are in use", gone, count(int64(len(made)), "folder"))
}
