package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/tray"
)

func (a *app) sessionsCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"ls"},
		GroupID: groupLook,
		Short:   "List the sessions, newest first",
		Long: `List the sessions, newest first: what each is doing, how long ChatGPT may leave
it unanswered, and where it works.

With no gateway running, the list is what the last one left.`,
		Example: `  deckhand sessions
  deckhand sessions --all      also those that ended more than a day ago
  deckhand sessions --json     for a program`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withView(cmd, func(ctx context.Context, v *view) error { return a.sessions(ctx, v, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also list what ended more than a day ago")
	return a.withJSON(cmd)
}

// sessionList is the JSON of the list.
type sessionList struct {
	// Gateway is null if none runs.
	Gateway  *admin.Status     `json:"gateway"`
	Sessions []session.Summary `json:"sessions"`
}

func (a *app) sessions(ctx context.Context, v *view, all bool) error {
	list := sessionList{}
	if v.live != nil {
		list.Gateway = &v.status
	}
	var err error
	if list.Sessions, err = v.List(ctx); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	waiting, err := waitingAmong(ctx, v, list.Sessions)
	if err != nil {
		return err
	}
	a.printSessions(list, waiting, all)
	return nil
}

// column is one column of a table; cells are coloured after they are measured.
type column struct {
	title string
	cells []string
	color func(i int, cell string) string
}

func (a *app) printSessions(list sessionList, waiting []session.Waiting, all bool) {
	now, p := a.now(), a.paint()
	gateway := tray.Gateway{}
	if list.Gateway != nil {
		gateway = gatewayRow(*list.Gateway)
	}
	a.printf("%s\n%s\n", p.dim(tray.GatewayLine(gateway)), p.dim(tray.ConnectorLine(gateway, now)))
	for _, w := range gateway.Warnings {
		a.printf("%s\n", p.yellow("▲ "+tray.Clean(w)))
	}
	short := shorten(list.Sessions)
	id, title, doing := column{title: "ID"}, column{title: "SESSION"}, column{title: "STATUS"}
	lease, profile, folder := column{title: "LEASE"}, column{title: "PROFILE"}, column{title: "FOLDER"}
	var shown []session.Summary
	for _, s := range list.Sessions {
		r := answerBy(row(s), waiting)
		if !all && tray.Quiet(r) && now.Sub(s.UpdatedAt).Hours() > 24 {
			continue
		}
		shown = append(shown, s)
		id.cells = append(id.cells, short(s.SessionID))
		title.cells = append(title.cells, tray.Glyph(r, now)+" "+tray.Shorten(tray.Title(r), tray.MaxTitle))
		doing.cells = append(doing.cells, tray.Doing(r, now))
		lease.cells = append(lease.cells, strings.TrimPrefix(tray.Lease(r, now), "lease "))
		profile.cells = append(profile.cells, tray.Profile(r.Profile))
		folder.cells = append(folder.cells, a.home(cmp.Or(s.SourceDirectory, s.WorkingDirectory)))
	}
	doing.color = func(i int, cell string) string { return p.status(shown[i].Status, cell) }
	a.printf("\n")
	switch hidden := len(list.Sessions) - len(shown); {
	case len(list.Sessions) == 0:
		a.printf("No sessions yet. ChatGPT starts one when you ask it to; deckhand prompt has the words.\n")
		return
	case len(shown) > 0:
		a.table(id, title, doing, lease, profile, folder)
		if hidden > 0 {
			a.printf("%s\n", p.dim(fmt.Sprintf("and %d older, see deckhand sessions --all", hidden)))
		}
	default:
		a.printf("Nothing in the last day. %d older, see deckhand sessions --all.\n", hidden)
	}
	for _, w := range waiting {
		a.printf("%s\n", p.red(fmt.Sprintf("◆ %s asks %s: deckhand approve %[1]s, or deckhand deny %[1]s",
			short(w.SessionID), tray.Wants(string(w.Profile), a.home(w.Folder)))))
	}
}

// table prints columns side by side, the last one unpadded.
func (a *app) table(columns ...column) {
	p := a.paint()
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = tray.Width(c.title)
		for _, cell := range c.cells {
			widths[i] = max(widths[i], tray.Width(cell))
		}
	}
	line := func(cell func(i int) (text, shown string)) {
		var b strings.Builder
		for i := range columns {
			text, shown := cell(i)
			b.WriteString(shown)
			if i < len(columns)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-tray.Width(text)+2))
			}
		}
		a.printf("%s\n", strings.TrimRight(b.String(), " "))
	}
	line(func(i int) (string, string) { return columns[i].title, p.dim(columns[i].title) })
	for n := range columns[0].cells {
		line(func(i int) (string, string) {
			text := columns[i].cells[n]
			if columns[i].color == nil {
				return text, text
			}
			return text, columns[i].color(n, text)
		})
	}
}
