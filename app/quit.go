package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
)

// quitWithin bounds how long a gateway that was told to end may take, and
// quitEvery is how often it is looked at.
const (
	quitWithin = 30 * time.Second
	quitEvery  = 100 * time.Millisecond
)

func (a *app) quitCommand() *cobra.Command {
	var stopAll bool
	cmd := &cobra.Command{
		Use:     "quit",
		GroupID: groupRun,
		Short:   "End the running app or gateway; runs go on",
		Long: `End the running app or gateway in good order. Runs of Claude Code go on: the next
gateway takes them up where they are. With --stop-all they are ended first.`,
		Example: `  deckhand quit
  deckhand quit --stop-all`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withView(cmd, func(ctx context.Context, v *view) error { return a.quit(ctx, v, stopAll) })
		},
	}
	cmd.Flags().BoolVar(&stopAll, "stop-all", false, "end every run first")
	return cmd
}

func (a *app) quit(ctx context.Context, v *view, stopAll bool) error {
	if v.live == nil {
		a.printf("Deckhand is not running.\n")
		return nil
	}
	if stopAll {
		if _, err := stopEach(ctx, v.live, "Deckhand was quit", func(s session.Summary, now session.Snapshot) { a.printStopped(s, now) }); err != nil {
			return err
		}
	}
	if err := v.live.Quit(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, quitWithin, fmt.Errorf("it has not ended within %s", quitWithin))
	defer cancel()
	for {
		switch _, err := v.live.Status(ctx); {
		case errors.Is(err, admin.ErrNotRunning):
			a.printf("Deckhand has ended.\n")
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if !pauseFor(ctx, quitEvery) {
			return context.Cause(ctx)
		}
	}
}
