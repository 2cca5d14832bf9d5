package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestASweepRemovesWhatNobodyUses looks at homes and caches that are used, old,
// of nobody, half removed, not ours, and closed to their owner.
func TestASweepRemovesWhatNobodyUses(t *testing.T) {
	w := newWorld(t)
	s := w.worktreeSession()
	w.Engine.cfg.Caches = filepath.Join(w.home, "caches")
	outside := filepath.Join(w.home, "outside")
	w.must(os.MkdirAll(outside, 0o700))
	home, cache := w.cfg.Runner.Home(s.SessionID), filepath.Join(w.Engine.cfg.Caches, string(s.SessionID))
	homes := filepath.Dir(home)
	stranger := filepath.Join(w.Engine.cfg.Caches, "ses_stranger")
	orphan, half := filepath.Join(homes, "0123456789abcdef"), home+discarded
	mine := []string{filepath.Join(homes, "notes"), filepath.Join(w.Engine.cfg.Caches, "go-build"), outside}
	for _, dir := range append([]string{home, cache, stranger, orphan, half}, mine...) {
		w.must(os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
		w.must(os.WriteFile(filepath.Join(dir, "a", "b", "f"), []byte("x"), 0o400))
	}
	w.must(os.Symlink(outside, filepath.Join(cache, "out")))
	w.must(os.Chmod(filepath.Join(cache, "a"), 0o000))
	old := time.Now().Add(-2 * time.Hour)
	for _, dir := range append([]string{cache}, mine...) {
		w.must(os.Chtimes(dir, old, old))
	}
	is := func(there bool, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) == there {
				t.Errorf("%s: there %t, %v", path, !there, err)
			}
		}
	}
	w.Engine.cfg.Retention = &Retention{Homes: time.Hour, Caches: time.Hour}
	w.must(w.sweep(t.Context()))
	is(true, append(mine, home, stranger, filepath.Join(outside, "a", "b", "f"))...)
	is(false, orphan, half, cache)

	w.Engine.cfg.Retention.Homes, w.Engine.cfg.Retention.Caches = time.Nanosecond, time.Nanosecond
	w.must(w.sweep(t.Context()))
	is(true, mine...)
	is(false, home, stranger)
	if _, err := w.goOn(s); err != nil {
		t.Errorf("it cannot go on: %v", err)
	}
}

// TestAFolderIsTakenAwayOnce asks twice.
func TestAFolderIsTakenAwayOnce(t *testing.T) {
	w := newWorld(t)
	s := w.worktreeSession()
	dir := filepath.Join(w.home, "caches")
	w.must(os.MkdirAll(filepath.Join(dir, string(s.SessionID)), 0o700))
	done, err := w.discard(t.Context(), dir, string(s.SessionID), s.SessionID)
	if err != nil || !done {
		t.Errorf("it was not removed: %v", err)
	}
	done, err = w.discard(t.Context(), dir, string(s.SessionID), s.SessionID)
	if err != nil || done {
		t.Errorf("what is gone was removed again: %v", err)
	}
}
