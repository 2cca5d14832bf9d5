package main

import (
	"context"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) stopCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "stop ID",
		GroupID: groupAct,
		Short:   "End a session's run now",
		Long: `End a session's run now: Claude Code and everything it started are gone when
this returns. What was done stays, and the session can be taken up again with
deckhand recover.`,
		Example: `  deckhand stop 4k2m
  deckhand stop ses_4k2m --reason "wrong folder"`,
		Args:              one,
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(reason) > turn.MaxReason {
				return usagef("--reason: %d bytes, at most %d", len(reason), turn.MaxReason)
			}
			return a.withView(cmd, func(ctx context.Context, v *view) error { return a.stop(ctx, v, args[0], reason) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for ChatGPT and the log")
	return a.withJSON(cmd)
}

func (a *app) stop(ctx context.Context, v *view, arg, reason string) error {
	found, err := v.resolve(ctx, arg)
	if err != nil {
		return err
	}
	if v.live == nil {
		return withHint(admin.ErrNotRunning, "a run that is still alive is ended by the next gateway: deckhand serve, then deckhand stop %s", found.SessionID)
	}
	snapshot, err := v.live.Stop(ctx, found.SessionID, reason)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(snapshot)
	}
	r := row(found)
	r.Status = tray.Status(snapshot.Status)
	a.printf("%s  %s: %s\n", found.SessionID, tray.Title(r), tray.Doing(r, a.now()))
	return nil
}
