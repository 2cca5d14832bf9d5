package command

import (
	"path/filepath"
	"slices"
	"strings"

	"deckhand/gateway/command/entry"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// policy is what a command may see and do: everything read-only but what is
// protected, and the programs of models, and its cache folder.
func (r *Runner) policy(env *environment, dir, cache string, c Call) (sandbox.Policy, error) {
	// A sandbox has a /tmp of its own; what the session works in is shown also
	// from there.
	var shown []string
	source, err := filepath.EvalSymlinks(c.Source)
	if err != nil || c.Source == "" {
		source = "/" // there is none, or it is gone, and Git says so
	}
	for _, path := range []string{c.Root, source, dir} {
		if path != "/" && !slices.ContainsFunc(shown, func(s string) bool { return within(path, s) }) {
			shown = append(shown, path)
		}
	}
	hidden, err := r.cfg.Protected.Screen(append(shown, dir)...)
	if err != nil {
		return sandbox.Policy{}, turn.RefuseFor(turn.SandboxUnavailable, err, "what commands may not see cannot all be hidden from them now; Deckhand's log says why")
	}
	for _, path := range env.models() {
		around := func(h string) bool { return within(path, h) }
		if len(hidden) < sandbox.MaxHidden && !slices.ContainsFunc(hidden, around) && !within(path, cache) {
			hidden = append(hidden, path)
		}
	}
	return sandbox.Policy{
		View: sandbox.WholeSystem, ReadOnly: shown, Writable: []string{cache}, Hidden: hidden, Network: sandbox.PrivateLoopback,
	}, nil
}

// models are the real files of the models' command lines on PATH. Version
// managers start many programs by one file, which stays.
func (e *environment) models() []string {
	var found []string
	for _, folder := range e.path {
		for _, name := range entry.Models() {
			path := filepath.Join(folder, name)
			real, err := filepath.EvalSymlinks(path)
			if err != nil || runnable(real, real) != nil || slices.Contains(found, real) {
				continue
			}
			if base := filepath.Base(real); strings.Contains(base, "shim") || base == "mise" || base == "busybox" {
				continue
			}
			found = append(found, real)
		}
	}
	return found
}
