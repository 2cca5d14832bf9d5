package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// maxLog bounds --limit.
const maxLog = 100_000

func (a *app) logCommand() *cobra.Command {
	var limit int
	var follow bool
	cmd := &cobra.Command{
		Use:     "log [ID]",
		GroupID: groupLook,
		Short:   "Show what happened, line by line",
		Long: `Show what happened, oldest first: who did what to which session, with sizes and
digests, never with contents. Nothing is left out and nothing is ever changed.`,
		Example: `  deckhand log
  deckhand log 4k2m --limit 200
  deckhand log --follow
  deckhand log --json | jq 'select(.outcome == "error")'`,
		Args:              atMostOne,
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > maxLog {
				return usagef("--limit: %d is not from 1 to %d", limit, maxLog)
			}
			return a.withView(cmd, func(ctx context.Context, v *view) error {
				return a.log(ctx, v, strings.Join(args, ""), limit, follow)
			})
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "show at most this many, the newest")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as more happens, until interrupted")
	return a.withJSON(cmd)
}

func (a *app) log(ctx context.Context, v *view, arg string, limit int, follow bool) error {
	if follow && v.live == nil {
		return withHint(admin.ErrNotRunning, "nothing more will happen; to see what did: deckhand log")
	}
	sessions, err := v.List(ctx)
	if err != nil {
		return err
	}
	id := turn.SessionID("")
	if arg != "" {
		found, err := resolve(sessions, arg)
		if err != nil {
			return err
		}
		id = found.SessionID
	}
	events, err := lastEvents(ctx, v, id, limit)
	if err != nil {
		return err
	}
	print := a.eventPrinter(sessions)
	next, err := printEvents(events, 0, print)
	if err != nil || !follow {
		return err
	}
	for {
		events, upTo, err := v.live.NextEvents(ctx, next, id)
		if ctx.Err() != nil {
			return nil // the person has seen enough
		}
		if err != nil {
			return err
		}
		if _, err := printEvents(events, next, print); err != nil {
			return err
		}
		next = upTo
	}
}

// printEvents prints events and returns the number of the last one, or after.
func printEvents(events []turn.Event, after uint64, print func(turn.Event) error) (uint64, error) {
	for _, e := range events {
		if err := print(e); err != nil {
			return after, err
		}
		after = e.Seq
	}
	return after, nil
}

// lastEvents reads through all events and keeps the last limit.
func lastEvents(ctx context.Context, v *view, id turn.SessionID, limit int) ([]turn.Event, error) {
	var kept []turn.Event
	after := uint64(0)
	for {
		page, err := v.Events(ctx, after, id, admin.MaxEvents)
		if err != nil {
			return nil, err
		}
		kept = append(kept, page...)
		if n := len(kept) - limit; n > 0 {
			kept = append(kept[:0], kept[n:]...)
		}
		if len(page) < admin.MaxEvents {
			return kept, nil
		}
		after = page[len(page)-1].Seq
	}
}

// eventPrinter prints one event a line. A day is named when it begins.
func (a *app) eventPrinter(sessions []session.Summary) func(turn.Event) error {
	if a.json {
		return func(e turn.Event) error { return a.printJSONLine(e) }
	}
	short, p, day, width := shorten(sessions), a.paint(), "", 0
	for _, s := range sessions {
		width = max(width, len(short(s.SessionID)))
	}
	return func(e turn.Event) error {
		at := e.At.Local()
		if d := at.Format(time.DateOnly); d != day {
			day = d
			a.printf("%s\n", p.dim("— "+d))
		}
		who := cmp.Or(short(e.Session), "-") // a revoked trust is of no session
		a.printf("%s  %s  %s %s%s\n", p.dim(at.Format(time.TimeOnly)), p.cyan(pad(who, width)),
			pad(tray.Clean(e.By), len("gateway")), tray.Clean(e.Kind), p.event(e))
		return nil
	}
}

// event says what is worth saying of an event besides its kind.
func (p paint) event(e turn.Event) string {
	var parts []string
	if e.Name != "" {
		parts = append(parts, p.bold(tray.Clean(e.Name)))
	}
	switch e.Outcome {
	case "":
	case turn.OK:
		parts = append(parts, p.green(string(e.Outcome)))
	default:
		parts = append(parts, p.red(tray.Clean(string(e.Outcome))))
	}
	if e.Code != "" {
		parts = append(parts, p.red(tray.Clean(string(e.Code))))
	}
	if e.Subject != "" {
		parts = append(parts, tray.Clean(e.Subject))
	}
	if e.Files > 0 {
		parts = append(parts, counted(e.Files, "file", "files"))
	}
	if e.Bytes > 0 {
		parts = append(parts, size(e.Bytes))
	}
	if len(e.SHA256) > 12 {
		parts = append(parts, p.dim("sha256 "+e.SHA256[:12]))
	}
	switch {
	case e.From == "" && e.To != "":
		parts = append(parts, "→ "+p.status(e.To, string(e.To)))
	case e.From != e.To:
		parts = append(parts, string(e.From)+" → "+p.status(e.To, string(e.To)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, " · ")
}
