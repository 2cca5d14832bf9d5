package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// actionPrefix is what every action id begins with. It may be left out.
const actionPrefix = "act_"

func (a *app) undoCommand() *cobra.Command {
	var dryRun, last bool
	cmd := &cobra.Command{
		Use:     "undo ID|ACTION",
		GroupID: groupAct,
		Short:   "Take back what a session wrote, or one write",
		Long: `Take back what a session wrote, newest first, or one write: each file is as it was
before, and a file that the session made is gone. A file that somebody has
changed since is left as it is and listed; the exit code is then 1.

ChatGPT is told with its next turn. deckhand show lists the writes of a session.`,
		Example: `  deckhand undo 4k2m --dry-run   what would happen
  deckhand undo 4k2m             every write of the session
  deckhand undo 4k2m --last      its newest write
  deckhand undo act_7hq2         one write`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return withHint(usagef("%s takes one session or one action", cmd.CommandPath()), "deckhand show lists the writes of a session with their ids")
			}
			return nil
		},
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHands(cmd, func(ctx context.Context, h hands) error { return a.undo(ctx, h, args[0], dryRun, last) })
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "only the session's newest write that was not undone")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be undone")
	return a.withJSON(cmd)
}

func (a *app) undo(ctx context.Context, h hands, arg string, dryRun, last bool) error {
	id, action, err := aim(ctx, h, arg)
	if err != nil {
		return err
	}
	if last && action != "" {
		return usagef("--last takes a session, and %s is one write", action)
	}
	var report session.UndoReport
	switch {
	case last:
		report, err = undoLast(ctx, h, id, dryRun)
	case action != "":
		report, err = h.UndoAction(ctx, action, dryRun)
	default:
		report, err = h.UndoSession(ctx, id, dryRun)
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		a.printUndo(report)
	}
	if err == nil && len(report.Conflicts) > 0 {
		err = errConflicts
	}
	return err
}

// undoLast takes back a session's newest write that was not taken back.
func undoLast(ctx context.Context, h admin.Undo, id turn.SessionID, dryRun bool) (session.UndoReport, error) {
	writes, err := h.Writes(ctx, id)
	if err != nil {
		return session.UndoReport{}, err
	}
	for _, w := range writes {
		if w.UndoneBy == "" {
			return h.UndoAction(ctx, w.ActionID, dryRun)
		}
	}
	return session.UndoReport{}, turn.Refuse(turn.NothingToUndo, "the session has no write that could be undone")
}

// aim finds the session or else the write that arg names.
func aim(ctx context.Context, h hands, arg string) (turn.SessionID, turn.ActionID, error) {
	var writes []session.Write
	want := strings.ToLower(strings.TrimSpace(arg))
	if bare := strings.TrimPrefix(want, actionPrefix); bare != "" && !strings.HasPrefix(want, idPrefix) {
		var err error
		if writes, err = h.FindWrites(ctx, actionPrefix+bare, maxCandidates+1); err != nil {
			return "", "", err
		}
	}
	var found session.Summary
	var notFound error
	if strings.HasPrefix(want, actionPrefix) {
		notFound = withHint(turn.Refuse(turn.NothingToUndo, "no write is called %q", arg), "deckhand show lists the writes of a session")
	} else {
		sessions, err := h.List(ctx)
		if err != nil {
			return "", "", err
		}
		found, notFound = resolve(sessions, arg)
	}
	switch {
	case len(writes) == 0, exitCode(notFound) == exitUsage:
		return found.SessionID, "", notFound
	case len(writes) == 1 && notFound != nil:
		return "", writes[0].ActionID, nil
	}
	var names []string
	if notFound == nil {
		names = append(names, fmt.Sprintf("%s (the session %s)", found.SessionID, tray.Title(row(found))))
	}
	for _, w := range writes[:min(len(writes), maxCandidates)] {
		names = append(names, fmt.Sprintf("%s (%s of %s)", w.ActionID, tray.Clean(w.Name), tray.Clean(w.Path)))
	}
	return "", "", withHint(usagef("%q begins several ids", arg), "%s", strings.Join(names, "\n  "))
}

// errConflicts is the end of a command that left something as it is and has
// said what.
var errConflicts = errors.New("something was left as it is")

func (a *app) printUndo(report session.UndoReport) {
	p := a.paint()
	done, left := "undone", "left as it is"
	if report.DryRun {
		done, left = "would be undone", "would be left as it is"
	}
	for _, step := range report.Undone {
		a.printf("%s %s %s  %s\n    %s\n", p.green("✓"), tray.Clean(step.Name), a.home(step.Path), p.dim(string(step.ActionID)), tray.Clean(step.Text))
	}
	for _, step := range report.Conflicts {
		a.printf("%s %s %s  %s\n    %s\n", p.red("✗"), tray.Clean(step.Name), a.home(step.Path), p.dim(string(step.ActionID)), p.red(tray.Clean(step.Text)))
	}
	a.printf("%s %s", counted(len(report.Undone), "write", "writes"), done)
	if n := len(report.Conflicts); n > 0 {
		a.printf(", %d %s", n, left)
	}
	a.printf("\n")
}

// counted says how many there are of something.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
