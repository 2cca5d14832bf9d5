package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) pruneCommand() *cobra.Command {
	var olderThan, one string
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:     "prune",
		GroupID: groupAct,
		Short:   "Remove old sessions for good",
		Long: `Remove sessions that nobody has used for a time, for good: what they were asked,
said and did, what is kept to undo their writes, and Claude Code's home. One line
in the log stays. Files that they wrote are left alone.

A session that is in use, that waits for you, or whose worktree is there, is kept
and listed; the exit code is then 1.`,
		Example: `  deckhand prune --dry-run
  deckhand prune --older-than 90d
  deckhand prune --session 4k2m --yes`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := parseAge(olderThan)
			if err != nil {
				return usagef("--older-than: %w", err)
			}
			if !dryRun && !yes && (a.json || !isTerminal(a.stdio.In)) {
				return withHint(usagef("nobody can be asked here whether to remove sessions for good"), "look first with --dry-run, then add --yes")
			}
			return a.withHands(cmd, func(ctx context.Context, h hands) error {
				sessions, err := h.List(ctx)
				if err != nil {
					return err
				}
				var targets []session.PruneTarget
				if one != "" {
					found, err := resolve(sessions, one)
					if err != nil {
						return err
					}
					targets = append(targets, session.PruneTarget{SessionID: found.SessionID, UpdatedAt: found.UpdatedAt})
				} else {
					for _, s := range sessions {
						if a.now().Sub(s.UpdatedAt) > age {
							targets = append(targets, session.PruneTarget{SessionID: s.SessionID, UpdatedAt: s.UpdatedAt})
						}
					}
				}
				return a.prune(ctx, h, sessions, targets, dryRun, yes)
			})
		},
	}
	cmd.Flags().StringVar(&olderThan, "older-than", "30d", "only sessions that were last used longer ago")
	cmd.Flags().StringVar(&one, "session", "", "this session, whatever its age")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return a.withJSON(cmd)
}

func (a *app) prune(ctx context.Context, h hands, sessions []session.Summary, targets []session.PruneTarget, dryRun, yes bool) error {
	report, err := h.Prune(ctx, targets, dryRun || !yes)
	if err != nil {
		return err
	}
	if !dryRun && !yes && len(report.Pruned) > 0 {
		a.printPrune(sessions, report)
		sure, err := a.confirm(ctx, fmt.Sprintf("Remove %s for good? [y/N] ", counted(len(report.Pruned), "session", "sessions")))
		if err != nil {
			return err
		}
		if !sure {
			a.printf("Nothing was removed.\n")
			return nil
		}
		if report, err = h.Prune(ctx, report.Pruned, false); err != nil {
			return err
		}
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		a.printPrune(sessions, report)
	}
	if err == nil && len(report.Kept) > 0 {
		err = errConflicts
	}
	return err
}

func (a *app) printPrune(sessions []session.Summary, report session.PruneReport) {
	p, titles := a.paint(), map[turn.SessionID]string{}
	for _, s := range sessions {
		titles[s.SessionID] = tray.Title(row(s))
	}
	done := "removed"
	if report.DryRun {
		done = "would be removed"
	}
	for _, t := range report.Pruned {
		a.printf("%s %s  %s  %s\n", p.green("✓"), t.SessionID, titles[t.SessionID], p.dim("last used "+tray.Ago(t.UpdatedAt, a.now())))
	}
	for _, k := range report.Kept {
		a.printf("%s %s  %s\n    %s\n", p.red("✗"), k.SessionID, titles[k.SessionID], p.red(tray.Clean(k.Text)))
	}
	a.printf("%s %s", counted(len(report.Pruned), "session", "sessions"), done)
	if n := len(report.Kept); n > 0 {
		a.printf(", %d kept", n)
	}
	a.printf("\n")
}

// confirm asks a person; anything but yes is no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	a.notef("%s", question)
	answer := make(chan string, 1)
	go func() { // it ends with the program if nobody answers
		line, _ := bufio.NewReader(a.stdio.In).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case said := <-answer:
		return said == "y" || said == "yes", nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
