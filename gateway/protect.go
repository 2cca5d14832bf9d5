package gateway

import (
	"path/filepath"

	"deckhand/gateway/protected"
)

// Protected makes the rules about paths by which a gateway with this config
// decides.
func (c Config) Protected() (*protected.Paths, error) {
	own := append([]string{c.Self}, c.Own...)
	if c.Claude != "" {
		own = append(own, c.Claude)
	}
	return protected.New(protected.Config{
		Home: c.Home, State: filepath.Clean(c.StateDir), Own: own, Search: c.Search, Hidden: c.Hidden, ReadOnly: c.ReadOnly,
	})
}
