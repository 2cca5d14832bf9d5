package main

import (
	"errors"

	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

// claude finds the Claude Code that a run would start, and asks it for its
// version.
func (d *doctor) claude() check {
	const name = "Claude Code"
	found, err := runner.FindClaude(runner.FindConfig{Path: d.settings.Claude, Data: d.settings.StateDir, Home: d.env["HOME"], Search: d.search()})
	if err != nil {
		c := check{Name: name, Evidence: message(err)}
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Cause != nil {
			c.Evidence = refusal.Detail + ": " + refusal.Cause.Error()
		}
		return c.as(bad, "deckhand claude install, or name the program with DECKHAND_CLAUDE")
	}
	c := ok(name, "%s at %s", found.Version, found.Path)
	switch found.Version {
	case runner.Pinned:
		return c
	case "":
		c.Evidence = found.Path + " does not tell its version"
	}
	return c.as(worry, "Deckhand was verified with %s; another version may or may not work", runner.Pinned)
}
