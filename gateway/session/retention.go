package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// Retention says how long what piles up is kept. A field that is 0 keeps it for
// good.
type Retention struct {
	// Undo is how long what a file held before a write is kept, and UndoBytes how
	// much of that in total, the newest first.
	Undo      time.Duration
	UndoBytes int64
	// Homes is how long a session's home of Claude Code is kept after its last
	// run. Without it the next run begins without Claude Code's own transcript.
	Homes time.Duration
	// Caches is how long a session's folder for commands is kept after its last
	// use.
	Caches time.Duration
}

// Pace of the sweep.
const (
	sweepEvery = 24 * time.Hour
	// sweepLook is how often the clock is looked at: timers stand still while a
	// machine sleeps.
	sweepLook = time.Hour
)

// sweepDaily removes what is kept no longer, now and then once a day.
func (e *Engine) sweepDaily() {
	look := time.NewTicker(sweepLook)
	defer look.Stop()
	var last time.Time
	for {
		// Without the monotonic clock, which stands still as well.
		if now := time.Now().Round(0); now.Sub(last) >= sweepEvery || now.Before(last) {
			last = now
			if err := e.sweep(e.life); err != nil && e.life.Err() == nil {
				e.cfg.Log.Error("remove what is kept no longer", "err", err)
			}
		}
		select {
		case <-look.C:
		case <-e.life.Done():
			return
		}
	}
}

// sweep removes what is kept no longer. What cannot be removed is tried again
// the next time, and keeps nothing else from going.
func (e *Engine) sweep(ctx context.Context) error {
	r := *e.cfg.Retention
	forgotten, err := e.ledger.Forget(ledger.BeforeLimits{For: r.Undo, Bytes: r.UndoBytes})
	if ctx.Err() != nil {
		return err
	}
	bodies, swept := e.ledger.Sweep()
	homes, homesErr := e.sweepHomes(ctx, r.Homes)
	caches, cachesErr := e.sweepCaches(ctx, r.Caches)
	if forgotten+bodies+homes+caches > 0 {
		e.cfg.Log.Info("removed what is kept no longer", "writes", forgotten, "bodies", bodies, "homes", homes, "caches", caches)
	}
	return errors.Join(err, swept, homesErr, cachesErr)
}

// homeForm is the name of a home, as package runner makes it.
var homeForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// sweepHomes removes the homes that no run has used for a time, and at once
// those of sessions that are gone. They are this state directory's alone.
func (e *Engine) sweepHomes(ctx context.Context, limit time.Duration) (int, error) {
	views, err := e.ledger.Views()
	if err != nil {
		return 0, err
	}
	sessions := map[string]ledger.View{}
	for _, v := range views {
		sessions[filepath.Base(e.cfg.Runner.Home(v.Session.ID))] = v
	}
	parent := filepath.Dir(e.cfg.Runner.Home(""))
	return e.sweepFolders(ctx, parent, homeForm, func(name string, _ os.FileInfo) (turn.SessionID, bool) {
		v, known := sessions[name]
		return v.Session.ID, !known || limit > 0 && !v.Run.Open() && time.Since(v.Run.Ended) > limit
	})
}

// sessionForm is the id of a session.
var sessionForm = regexp.MustCompile(`^ses_[0-9a-z]+$`)

// sweepCaches removes the folders of commands that were not used for a time.
// Gateways with other state directories have theirs in the same place, so that a
// session that this ledger does not know is judged by time alone.
func (e *Engine) sweepCaches(ctx context.Context, limit time.Duration) (int, error) {
	if limit == 0 {
		return 0, nil
	}
	return e.sweepFolders(ctx, e.cfg.Caches, sessionForm, func(name string, info os.FileInfo) (turn.SessionID, bool) {
		return turn.SessionID(name), time.Since(info.ModTime()) > limit
	})
}

// discarded is the end of the name of a folder that is being removed.
const discarded = ".removed"

// sweepFolders removes the folders below parent whose names have a form and that
// expired says may go, with the session that has to be without a run then, and
// what an interrupted sweep has left.
func (e *Engine) sweepFolders(ctx context.Context, parent string, form *regexp.Regexp, expired func(string, os.FileInfo) (turn.SessionID, bool)) (int, error) {
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list folders: %w", err)
	}
	removed := 0
	var failed error
	for _, entry := range entries {
		name, left := strings.CutSuffix(entry.Name(), discarded)
		if ctx.Err() != nil || !entry.IsDir() || !form.MatchString(name) {
			continue
		}
		if left {
			failed = errors.Join(failed, removeFolder(ctx, parent, entry.Name()))
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue // gone meanwhile
		}
		id, ok := expired(name, info)
		if !ok {
			continue
		}
		done, err := e.discard(ctx, parent, name, id)
		failed = errors.Join(failed, err)
		if done {
			removed++
		}
	}
	return removed, failed
}

// discard removes a folder of a session that has no open run. It takes the name
// away first, so that a run that begins meanwhile finds it whole or not at all.
func (e *Engine) discard(ctx context.Context, parent, name string, id turn.SessionID) (bool, error) {
	if err := removeFolder(ctx, parent, name+discarded); err != nil {
		return false, err
	}
	moved, err := e.setAside(parent, name, id)
	if err != nil || !moved {
		return false, err
	}
	return true, removeFolder(ctx, parent, name+discarded)
}

func (e *Engine) setAside(parent, name string, id turn.SessionID) (bool, error) {
	e.folders.Lock()
	defer e.folders.Unlock()
	if v, err := e.ledger.View(id); err == nil && v.Run.ID != "" && v.Run.Open() {
		return false, nil
	}
	err := os.Rename(filepath.Join(parent, name), filepath.Join(parent, name+discarded))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeFolder removes a folder and everything in it, also where its own
// permissions forbid that: commands may have taken them away. No link is
// followed.
func removeFolder(ctx context.Context, parent, name string) error {
	root, err := os.OpenRoot(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	defer root.Close()
	if err := removeTree(ctx, root, name); err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	return nil
}

func removeTree(ctx context.Context, in *os.Root, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := in.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return in.Remove(name)
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := in.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	for _, entry := range entries {
		if err == nil {
			err = removeTree(ctx, dir, entry.Name())
		}
	}
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return in.Remove(name)
}
