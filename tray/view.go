package tray

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is what one place of the menu shows.
type State struct {
	Title    string
	Hidden   bool
	Disabled bool
	Checked  bool
	Command  Command
}

// Mood is what the icon says.
type Mood int

const (
	// Calm: nothing needs a person.
	Calm Mood = iota
	// Attention: something does.
	Attention
	// Paused: no session can start.
	Paused
	// Down: no gateway answers.
	Down
)

// Bar is the icon and what stands beside it.
type Bar struct {
	Mood Mood
	// Count is how many sessions need a person.
	Count   int
	Tooltip string
}

// View is everything that is shown at one instant.
type View struct {
	Bar Bar
	// Places has the state of every key of Layout.
	Places map[Key]State
	// Next is the next instant at which a shown text is not true any more though
	// nothing happened; zero if there is none.
	Next time.Time
}

// recent is how long a session that has ended keeps its row: long enough to take
// back what it wrote.
const recent = 15 * time.Minute

// Board lays models out as views. It remembers only where sessions sit; else
// the same Model gives the same View.
type Board struct {
	needs, sessions seats
}

// View lays a model out.
func (b *Board) View(m Model) View {
	v := View{Places: map[Key]State{}}
	needs, active, quiet := sections(m)
	v.Bar = bar(m, len(needs))
	v.head(m)
	over := v.section(keyNeeds, "NEEDS YOU", &b.needs, needs, m.Now)
	over += v.section(keySessions, "SESSIONS", &b.sessions, active, m.Now)
	v.show(keyMore, more(over, quiet, len(needs)+len(active)))
	v.foot(m, len(needs)+len(active) > 0)
	v.Next = next(m, slices.Concat(needs, active))
	return v
}

// bar is the icon: what needs a person wins over what is merely so.
func bar(m Model, needs int) Bar {
	b := Bar{Count: needs}
	switch {
	case !m.Gateway.Running:
		b.Mood, b.Tooltip = Down, "Deckhand: the gateway is not running"
	case needs > 0:
		b.Mood, b.Tooltip = Attention, fmt.Sprintf("Deckhand: %s you", verb(needs, "needs", "need"))
	case m.Gateway.Paused:
		b.Mood, b.Tooltip = Paused, "Deckhand: paused, no session can start"
	default:
		b.Mood, b.Tooltip = Calm, "Deckhand"
	}
	return b
}

func verb(n int, one, many string) string {
	if n == 1 {
		return "1 session " + one
	}
	return fmt.Sprintf("%d sessions %s", n, many)
}

// show sets a line; one without text is hidden.
func (v *View) show(key Key, title string) {
	v.Places[key] = State{Title: title, Hidden: title == "", Disabled: true}
}

// offer sets an action or a switch.
func (v *View) offer(key Key, title string, c Command) {
	v.Places[key] = State{Title: title, Command: c, Hidden: c == nil}
}

func (v *View) head(m Model) {
	v.show(keyGateway, GatewayLine(m.Gateway))
	v.show(keyConnector, ConnectorLine(m.Gateway, m.Now))
	v.show(keyTunnel, TunnelLine(m.Gateway, m.Now))
	v.show(keyWelcome, welcome(m))
	for i := range maxWarnings {
		text := ""
		if i < len(m.Gateway.Warnings) {
			text = "▲ " + Shorten(Clean(m.Gateway.Warnings[i]), 80)
		}
		if rest := len(m.Gateway.Warnings) - maxWarnings; i == maxWarnings-1 && rest > 0 {
			text = fmt.Sprintf("▲ %d more warnings: deckhand doctor", rest+1)
		}
		v.show(warningKey(i), text)
	}
}

// welcome tells who has never used it what it is.
func welcome(m Model) string {
	if !m.FirstStart {
		return ""
	}
	return "ChatGPT thinks, Claude Code works, you hold the brake"
}

// section lays one section out and says how many of its rows found no place.
func (v *View) section(key Key, title string, s *seats, rows []Row, now time.Time) int {
	placed, over := s.seat(rows, now)
	if len(rows) == 0 {
		title = ""
	}
	v.show(key, title)
	for i, r := range placed {
		v.row(rowKey(key, i), r, now)
	}
	return len(over)
}

func (v *View) row(key Key, r *Row, now time.Time) {
	if r == nil {
		v.Places[key] = State{Hidden: true}
		for _, part := range rowParts {
			v.Places[partKey(key, part)] = State{Hidden: true}
		}
		return
	}
	v.Places[key] = State{Title: rowTitle(*r, now)}
	part := func(name, title string, c Command, when bool) {
		if !when {
			title, c = "", nil
		}
		v.offer(partKey(key, name), title, c)
	}
	asked := r.Status == AwaitingApproval
	live := r.Status != Stopping && r.Status != Stopped
	v.show(partKey(key, partDoing), wants(*r))
	part(partApprove, "Approve", Approve{r.ID, r.Generation}, asked)
	part(partDeny, "Deny", Deny{r.ID, r.Generation}, asked)
	part(partStop, "Stop", StopSession{r.ID}, live && !asked)
	part(partRecover, "Recover: copy the prompt for a new chat", CopyRecoveryPrompt{r.ID}, live && !asked)
	part(partUndo, "Undo last write", UndoLast{r.ID}, r.Undoable)
	part(partUndoAll, "Undo all that it wrote", UndoSession{r.ID}, r.Undoable)
	part(partFolder, "Open folder", OpenFolder{r.ID, r.Folder}, r.Folder != "")
	part(partID, "Copy session id", CopyID{r.ID}, true)
}

// wants says what a session asks for that waits for a person.
func wants(r Row) string {
	if r.Status != AwaitingApproval {
		return ""
	}
	return "It wants " + Shorten(Wants(r.Profile, cmp.Or(r.Where, r.Source, r.Folder)), 72)
}

func rowTitle(r Row, now time.Time) string {
	parts := []string{Glyph(r, now) + " " + Shorten(Title(r), MaxTitle), Profile(r.Profile), Doing(r, now)}
	if l := Lease(r, now); l != "" {
		parts = append(parts, l)
	}
	return strings.Join(parts, " · ")
}

func (v *View) foot(m Model, live bool) {
	v.offer(keyStarter, "Copy starter prompt", CopyStarterPrompt{})
	v.offer(keyConnect, "Connect ChatGPT…", ConnectChatGPT{})
	if m.Gateway.Connector != "" {
		v.offer(keyConnect, "", nil)
	}
	v.offer(keyLog, "Open log", OpenLog{})
	v.turn(keyPause, "Pause: refuse new sessions", m.Gateway.Paused, Pause{!m.Gateway.Paused})
	v.turn(keyAsk, "Ask before every session that writes", m.Gateway.AskBeforeWrite, AskBeforeWrite{!m.Gateway.AskBeforeWrite})
	v.turn(keyAwake, "Keep awake while a session runs", m.KeepAwake, KeepAwake{!m.KeepAwake})
	v.turn(keyLogin, "Start at login", m.StartAtLogin, StartAtLogin{!m.StartAtLogin})
	v.offer(keyStopAll, "Stop all sessions", StopAll{})
	v.offer(keyQuit, "Quit", Quit{})
	v.offer(keyQuitAll, "Stop all sessions and quit", StopAllAndQuit{})
	if live {
		v.offer(keyQuit, "Quit, sessions go on", Quit{})
		return
	}
	v.offer(keyStopAll, "", nil)
	v.offer(keyQuitAll, "", nil)
}

func (v *View) turn(key Key, title string, on bool, c Command) {
	v.Places[key] = State{Title: title, Checked: on, Command: c}
}

// sections splits the rows into those that need a person and those where
// something goes on, most urgent first, and counts the rest.
func sections(m Model) (needs, active []Row, quiet int) {
	for _, r := range m.Rows {
		switch {
		case NeedsYou(r, m.Now):
			needs = append(needs, r)
		case Quiet(r) && m.Now.Sub(r.Updated) >= recent:
			quiet++
		default:
			active = append(active, r)
		}
	}
	byUrgency := func(a, b Row) int { return urgency(a.Status) - urgency(b.Status) }
	slices.SortStableFunc(needs, byUrgency)
	slices.SortStableFunc(active, byUrgency)
	return needs, active, quiet
}

// more counts what is not shown.
func more(over, quiet, shown int) string {
	switch {
	case over > 0:
		return fmt.Sprintf("○ More: %s", count(over+quiet, "session"))
	case quiet > 0:
		return fmt.Sprintf("○ More: %s", count(quiet, "quiet session"))
	case shown == 0:
		return "No sessions"
	}
	return ""
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

// next returns when the first text that depends on the clock changes: all of
// them show minutes, or hours, that begin with the instant they count from.
func next(m Model, rows []Row) time.Time {
	var first time.Time
	at := func(t time.Time) {
		if t.IsZero() {
			return
		}
		since := m.Now.Sub(t)
		wait := time.Minute - since%time.Minute
		if left := -since; left >= time.Minute {
			// One more nanosecond: exactly 5 minutes are still "5 min".
			wait = left%time.Minute + 1
		} else if left > 0 {
			wait = left
		}
		if then := m.Now.Add(wait); first.IsZero() || then.Before(first) {
			first = then
		}
	}
	if m.Gateway.Running {
		at(m.Gateway.LastRequest)
		at(m.Gateway.TunnelDown)
	}
	for _, r := range rows {
		if Lease(r, m.Now) != "" {
			at(r.LeaseEnds)
		}
		if Quiet(r) {
			at(r.Updated)
		}
		switch r.Status {
		case AwaitingApproval:
			at(r.AnswerBy)
		case WaitingForGPT:
			at(r.TurnOpened)
		}
	}
	return first
}
