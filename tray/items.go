package tray

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxRows is how many sessions a menu shows; a screen has an end.
const MaxRows = 12

// Command is what a person asked for. The set is closed.
type Command interface{ command() }

type (
	// StopSession ends a session's run.
	StopSession struct{ ID string }
	// CopyRecoveryPrompt puts the prompt for a new chat on the clipboard.
	CopyRecoveryPrompt struct{ ID string }
	// CopyID puts the session's id on the clipboard.
	CopyID struct{ ID string }
	// OpenFolder shows the session's folder in the file manager.
	OpenFolder struct{ Path string }
	// CopyStarterPrompt puts the first prompt for ChatGPT on the clipboard.
	CopyStarterPrompt struct{}
	// Quit ends the app; runs go on.
	Quit struct{}
)

func (StopSession) command()        {}
func (CopyRecoveryPrompt) command() {}
func (CopyID) command()             {}
func (OpenFolder) command()         {}
func (CopyStarterPrompt) command()  {}
func (Quit) command()               {}

// Item is one entry of a menu. An entry without a title is a separator; one
// without a command and without children is only read.
type Item struct {
	Title    string
	Command  Command
	Children []Item
}

// Items lays a model out as a menu: the gateway, what needs a person, what
// goes on, how much more there is, and what holds for all. Titles are not yet
// escaped for a platform.
func Items(m Model) []Item {
	items := []Item{{Title: GatewayLine(m.Gateway)}, {Title: ConnectorLine(m.Gateway, m.Now)}}
	for _, w := range m.Gateway.Warnings {
		items = append(items, Item{Title: "▲ " + Shorten(Clean(w), 80)})
	}
	needs, active, more := sections(m)
	items = appendSection(items, "NEEDS YOU", needs, m.Now)
	items = appendSection(items, "SESSIONS", active, m.Now)
	if more != "" {
		items = append(items, Item{Title: more})
	}
	return append(items, Item{},
		Item{Title: "Copy starter prompt", Command: CopyStarterPrompt{}},
		Item{Title: "Quit, runs go on", Command: Quit{}})
}

func appendSection(items []Item, title string, rows []Row, now time.Time) []Item {
	if len(rows) == 0 {
		return items
	}
	items = append(items, Item{}, Item{Title: title})
	for _, r := range rows {
		items = append(items, rowItem(r, now))
	}
	return items
}

func rowItem(r Row, now time.Time) Item {
	parts := []string{Glyph(r, now) + " " + Shorten(Title(r), MaxTitle), Profile(r.Profile), Doing(r, now)}
	if l := Lease(r, now); l != "" {
		parts = append(parts, l)
	}
	item := Item{Title: strings.Join(parts, " · ")}
	if r.Status != Stopping {
		item.Children = append(item.Children,
			Item{Title: "Stop", Command: StopSession{ID: r.ID}},
			Item{Title: "Copy prompt for a new chat", Command: CopyRecoveryPrompt{ID: r.ID}},
			Item{})
	}
	item.Children = append(item.Children,
		Item{Title: "Open folder", Command: OpenFolder{Path: r.Folder}},
		Item{Title: "Copy session id", Command: CopyID{ID: r.ID}})
	return item
}

// sections splits the rows into those that need a person, those where
// something goes on, and a line that counts the rest. What needs a person is
// shown first and is the last that the limit cuts off.
func sections(m Model) (needs, active []Row, more string) {
	quiet := 0
	for _, r := range m.Rows {
		switch {
		case NeedsYou(r, m.Now):
			needs = append(needs, r)
		case Quiet(r):
			quiet++
		default:
			active = append(active, r)
		}
	}
	byUrgency := func(a, b Row) int { return urgency(a.Status) - urgency(b.Status) }
	slices.SortStableFunc(needs, byUrgency)
	slices.SortStableFunc(active, byUrgency)
	cut := 0
	if free := max(0, MaxRows-len(needs)); len(active) > free {
		cut = len(active) - free
		active = active[:free]
	}
	if n := min(len(needs), MaxRows); n < len(needs) {
		cut += len(needs) - n
		needs = needs[:n]
	}
	switch {
	case cut > 0:
		more = fmt.Sprintf("○ More: %s", count(cut+quiet, "session"))
	case quiet > 0:
		more = fmt.Sprintf("○ More: %s", count(quiet, "quiet session"))
	case len(needs)+len(active) == 0:
		more = "No sessions"
	}
	return needs, active, more
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// urgency orders rows within a section, most urgent first.
func urgency(s Status) int {
	switch s {
	case AwaitingApproval:
		return 0
	case RecoveryRequired:
		return 1
	case Executing, Running, Starting, Stopping:
		return 2
	case WaitingForGPT:
		return 3
	}
	return 4
}
