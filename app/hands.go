package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/spf13/cobra"

	"deckhand/gateway"
	"deckhand/gateway/admin"
	"deckhand/gateway/session"
)

// hands is what changes files: the running gateway, or an engine that holds the
// ledger's lock for one command.
type hands interface {
	source
	admin.Switches
	admin.Undo
	admin.Trusts
	admin.Worktrees
	admin.Pruner
}

var (
	_ hands = (*admin.Client)(nil)
	_ hands = (*session.Engine)(nil)
)

// withHands loads the settings, opens what can change files and runs f.
func (a *app) withHands(cmd *cobra.Command, f func(context.Context, hands) error) error {
	s, err := a.load(cmd)
	if err != nil {
		return err
	}
	h, done, err := a.takeHands(cmd.Context(), s)
	if err != nil {
		return err
	}
	err = f(cmd.Context(), h)
	if closed := done(); closed != nil {
		return errors.Join(err, closed)
	}
	return err
}

func (a *app) takeHands(ctx context.Context, s Settings) (hands, func() error, error) {
	switch err := checkState(s.StateDir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, noState(s)
	case err != nil:
		return nil, nil, err
	}
	client, status, err := a.dial(ctx, s)
	if err == nil {
		a.compare(status)
		return client, func() error { return nil }, nil
	}
	if !errors.Is(err, admin.ErrNotRunning) {
		return nil, nil, err
	}
	cfg, err := a.gatewayConfig(s)
	if err != nil {
		return nil, nil, err
	}
	// The log file is a gateway's, and one may start as soon as this ends.
	cfg.Log = slog.New(slog.NewTextHandler(a.stdio.Err, &slog.HandlerOptions{Level: slog.LevelError}))
	engine, err := gateway.OpenEngine(ctx, cfg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, noState(s)
	}
	if _, ok := errors.AsType[*gateway.RunningError](err); ok {
		return nil, nil, withHint(err, "run the command again in a moment")
	}
	if err != nil {
		return nil, nil, err
	}
	return engine, engine.Close, nil
}
