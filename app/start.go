package main

import (
	"fmt"
	"os"
	"path/filepath"

	"deckhand/gateway"
)

// gatewayConfig is what the settings mean for a gateway.
func (a *app) gatewayConfig(s Settings) (gateway.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return gateway.Config{}, fmt.Errorf("find own program: %w", err)
	}
	cfg := gateway.Config{
		StateDir: s.StateDir, Home: a.env["HOME"], LocalAddr: s.Listen, ConnectorAddr: s.ConnectorListen,
		Self: self, Claude: s.Claude, Bubblewrap: s.Bubblewrap, Version: version(),
		LeaseDuration: s.Lease, MaxLive: s.MaxLive, TurnBudget: s.TurnBudget, MaxWait: s.MaxWait,
		PublicHosts: s.PublicHosts, Hidden: s.Hidden, ReadOnly: s.ReadOnly, Search: a.search(),
		Retention: &s.Retention, Approvals: s.Approvals, WorktreeRoot: s.WorktreeRoot, Environ: a.env,
		CacheDir: defaultPlaces(a.env["HOME"], func(name string) string { return a.env[name] }).Caches,
	}
	if s.File != "" {
		cfg.Own = append(cfg.Own, s.File)
	}
	if home := a.env["HOME"]; filepath.IsAbs(home) {
		// Also while there is none: whoever made one would choose the programs.
		file := defaultPlaces(home, func(name string) string { return a.env[name] }).Config
		cfg.Own = append(cfg.Own, filepath.Dir(file))
	}
	return cfg, nil
}

// search is the PATH without what is not absolute.
func (a *app) search() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(a.env["PATH"]) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}
