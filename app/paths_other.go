//go:build !darwin

package main

import "path/filepath"

// defaultPlaces returns the places for a home directory; lookup reads the
// environment. A relative XDG path does not count, as its specification says.
func defaultPlaces(home string, lookup func(string) string) places {
	under := func(name, fallback string) string {
		if dir := lookup(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "deckhand")
		}
		return filepath.Join(home, fallback, "deckhand")
	}
	return places{
		State:     under("XDG_STATE_HOME", ".local/state"),
		Config:    filepath.Join(under("XDG_CONFIG_HOME", ".config"), "config.toml"),
		Worktrees: filepath.Join(home, ".deckhand", "worktrees"),
		Caches:    under("XDG_CACHE_HOME", ".cache"),
	}
}
