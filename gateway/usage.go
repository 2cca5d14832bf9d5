package gateway

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
)

// Room is how much one kind of what is kept takes on the disk.
type Room struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Usage says how much room everything takes that a gateway with this config
// keeps, by kind. What does not exist takes none. It looks at every file, so it
// takes as long as there are many; the error is the cause of ctx, or about what
// could not be looked at.
func Usage(ctx context.Context, cfg Config) ([]Room, error) {
	p := placesOf(cfg.StateDir)
	var rooms []Room
	for _, kind := range []struct{ name, dir string }{
		{"ledger", p.ledger()}, // records, texts, and what is kept for undo
		{"homes of Claude Code", p.homes()},
		{"caches of commands", cfg.CacheDir},
		{"worktrees", cfg.WorktreeRoot},
		{"log", filepath.Join(p.state, "logs")},
	} {
		bytes, err := bytesBelow(ctx, kind.dir)
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, Room{Name: kind.name, Bytes: bytes})
	}
	return rooms, nil
}

// bytesBelow adds up the sizes of the files below a folder.
func bytesBelow(ctx context.Context, dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			return nil // not there, or gone meanwhile
		case err != nil:
			return err
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	return total, err
}
