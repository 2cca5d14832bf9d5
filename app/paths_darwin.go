package main

import "path/filepath"

// defaultPlaces returns the places for a home directory; lookup reads the
// environment.
func defaultPlaces(home string, lookup func(string) string) places {
	support := filepath.Join(home, "Library", "Application Support", "Deckhand")
	caches := filepath.Join(home, "Library", "Caches")
	if dir := lookup("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		caches = dir
	}
	return places{State: support, Config: filepath.Join(support, "config.toml"), Worktrees: filepath.Join(home, ".deckhand", "worktrees"),
		Caches: filepath.Join(caches, "deckhand")}
}
