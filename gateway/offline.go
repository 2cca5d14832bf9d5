package gateway

import (
	"context"
	"fmt"
	"os"
	"time"

	"deckhand/gateway/sandbox"
	"deckhand/gateway/session"
)

// OpenEngine opens the sessions of a gateway that does not run, for one command
// that changes something. Until Close it holds the ledger's lock, so that no
// gateway starts meanwhile, and like a gateway it first settles what the last
// one left; but it serves nobody and starts no run. The error is fs.ErrNotExist
// if no gateway ever ran in the state directory, and a *RunningError if one
// runs now.
func OpenEngine(ctx context.Context, cfg Config) (*session.Engine, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Retention = nil // a gateway's to do
	p := placesOf(cfg.StateDir)
	if _, err := os.Stat(p.ledger()); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if err := p.make(); err != nil {
		return nil, err
	}
	paths, err := cfg.Protected()
	if err != nil {
		return nil, err
	}
	// A run that was recorded and never begun is the next gateway's to begin. The
	// engine asks this before it starts one, and is told only when it closes.
	starting := &readiness{cfg: cfg, test: func(ctx context.Context) (*sandbox.Launcher, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	g := &Gateway{cfg: cfg, started: time.Now().UTC(), ready: starting}
	engine, err := g.newEngine(ctx, p, paths)
	if err != nil {
		return nil, g.explainInUse(ctx, err)
	}
	return engine, nil
}
