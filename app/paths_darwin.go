package main

import "path/filepath"

// defaultPlaces returns the places for a home directory; lookup reads the
// environment.
func defaultPlaces(home string, _ func(string) string) places {
	support := filepath.Join(home, "Library", "Application Support", "Deckhand")
	return places{State: support, Config: filepath.Join(support, "config.toml"), Worktrees: filepath.Join(home, ".deckhand", "worktrees")}
}
