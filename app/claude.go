package main

import (
	"context"
	"errors"

	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

// claude finds the Claude Code that a run would start, and asks it for its
// version.
func (d *doctor) claude(ctx context.Context) check {
	const name = "Claude Code"
	path, found, err := runner.FindClaude(ctx, runner.Places{
		Bin: d.settings.Claude, Home: d.env["HOME"], Path: d.env["PATH"],
	})
	if err != nil {
		c := check{Name: name, Evidence: message(err)}
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Cause != nil {
			c.Evidence = refusal.Detail + ": " + refusal.Cause.Error()
		}
		return c.as(bad, "npm install -g @anthropic-ai/claude-code@%s, or name the program with DECKHAND_CLAUDE", runner.Pinned)
	}
	switch found {
	case runner.Pinned:
		return ok(name, "%s at %s", found, path)
	case "":
		return ok(name, "%s does not tell its version", path).
			as(worry, "Deckhand was verified with %s: npm install -g @anthropic-ai/claude-code@%s", runner.Pinned, runner.Pinned)
	}
	return ok(name, "%s at %s", found, path).
		as(worry, "Deckhand was verified with %s and may or may not work with this one", runner.Pinned)
}
