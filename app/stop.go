package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) stopCommand() *cobra.Command {
	var reason string
	var all bool
	cmd := &cobra.Command{
		Use:     "stop ID",
		GroupID: groupAct,
		Short:   "End a session's run now",
		Long: `End a session's run now: Claude Code and everything it started are gone when
this returns. What was done stays, and the session can be taken up again with
deckhand recover.`,
		Example: `  deckhand stop 4k2m
  deckhand stop ses_4k2m --reason "wrong folder"
  deckhand stop --all`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return none(cmd, args)
			}
			return one(cmd, args)
		},
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(reason) > turn.MaxReason {
				return usagef("--reason: %d bytes, at most %d", len(reason), turn.MaxReason)
			}
			return a.withView(cmd, func(ctx context.Context, v *view) error {
				if all {
					return a.stopAll(ctx, v, reason)
				}
				return a.stop(ctx, v, args[0], reason)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "end every run, and what waits for your approval")
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
	a.printStopped(found, snapshot)
	return nil
}

func (a *app) printStopped(found session.Summary, snapshot session.Snapshot) {
	r := row(found)
	r.Status = tray.Status(snapshot.Status)
	a.printf("%s  %s: %s\n", found.SessionID, tray.Title(r), tray.Doing(r, a.now()))
}

// stopAll ends every session in which something goes on or waits.
func (a *app) stopAll(ctx context.Context, v *view, reason string) error {
	if v.live == nil {
		return withHint(admin.ErrNotRunning, "runs that are still alive are ended by the next gateway: deckhand serve, then deckhand stop --all")
	}
	stopped, err := stopEach(ctx, v.live, reason, func(found session.Summary, snapshot session.Snapshot) {
		if !a.json {
			a.printStopped(found, snapshot)
		}
	})
	if a.json {
		return errors.Join(err, a.printJSON(stopped))
	}
	if err == nil && len(stopped) == 0 {
		a.printf("Nothing is going on.\n")
	}
	return err
}

// stopEach ends every session in which something goes on or waits, all of them
// whatever becomes of one, and tells of each.
func stopEach(ctx context.Context, c *admin.Client, reason string, tell func(session.Summary, session.Snapshot)) ([]session.Snapshot, error) {
	sessions, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	stopped := []session.Snapshot{}
	for _, s := range sessions {
		if !ongoing(s.Status) {
			continue
		}
		snapshot, failed := c.Stop(ctx, s.SessionID, reason)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.SessionID, failed))
			continue
		}
		stopped = append(stopped, snapshot)
		tell(s, snapshot)
	}
	return stopped, err
}

// ongoing reports whether a session has something to stop.
func ongoing(s turn.Status) bool {
	switch s {
	case turn.AwaitingApproval, turn.Starting, turn.Running, turn.WaitingForGPT, turn.Executing, turn.Stopping:
		return true
	}
	return false
}
