package tray

import (
	"cmp"
	"fmt"
	"path"
	"time"
)

// LeaseSoon is how near the end of a lease must be to need a person.
const LeaseSoon = 5 * time.Minute

// Title is what a person calls the session: its label, else the name of its
// folder, or of the checkout that its worktree was made of.
func Title(r Row) string {
	if t := Clean(r.Label); t != "" {
		return t
	}
	if t := Clean(path.Base(cmp.Or(r.Source, r.Folder))); t != "" && t != "." {
		return t
	}
	return "untitled"
}

// Profile is what the session may do, in words.
func Profile(p string) string {
	switch p {
	case "read_only":
		return "reads only"
	case "direct_write":
		return "writes in the folder"
	case "worktree_write":
		return "writes in a worktree"
	}
	return Clean(p)
}

// Doing says what the session is doing at now.
func Doing(r Row, now time.Time) string {
	switch r.Status {
	case AwaitingApproval:
		if r.AnswerBy.IsZero() {
			return "waiting for your approval"
		}
		return "waiting for your approval, " + Left(r.AnswerBy, now)
	case Starting:
		return "starting Claude Code"
	case Running:
		return "Claude Code is working"
	case WaitingForGPT:
		if age := now.Sub(r.TurnOpened); !r.TurnOpened.IsZero() && age >= time.Minute {
			return "waiting for ChatGPT, " + Span(age)
		}
		return "waiting for ChatGPT"
	case Executing:
		return executing(r.Tools, r.Lines)
	case Idle:
		return "ready for the next prompt"
	case Failed:
		return "failed: " + Reason(r.Code)
	case Stopping:
		return "stopping"
	case Stopped:
		return "stopped"
	case LeaseExpired:
		return "lease ended, nobody answered"
	case RecoveryRequired:
		return "lost its Claude Code, needs recovery"
	}
	return Clean(string(r.Status))
}

// Left says how long it is until t.
func Left(t, now time.Time) string {
	if !t.After(now) {
		return "too late"
	}
	return Span(t.Sub(now)) + " left"
}

// Wants is what a session that waits for an approval asks for: folder is where
// it would work.
func Wants(profile, folder string) string {
	switch profile {
	case "read_only":
		return "to read, starting in " + Clean(folder)
	case "direct_write":
		return "to write in the folder " + Clean(folder)
	case "worktree_write":
		return "to write in a worktree of " + Clean(folder)
	}
	return Clean(profile + " in " + folder)
}

// Approval says how a person answered, or has not yet, until ends.
func Approval(state string, ends, now time.Time) string {
	switch state {
	case "pending":
		return "you are asked, " + Left(ends, now)
	case "approved":
		return "allowed"
	case "denied":
		return "refused"
	case "expired":
		return "nobody answered in time, so it was refused"
	}
	return Clean(state)
}

func executing(tools []string, lines int64) string {
	printed := ""
	if lines > 0 {
		printed = ", " + count(int(lines), "line")
	}
	switch len(tools) {
	case 0:
		return "running a tool"
	case 1:
		return "running " + Clean(tools[0]) + printed
	}
	return fmt.Sprintf("running %s and %d more", Clean(tools[0]), len(tools)-1) + printed
}

// Reason says in words why a run failed. A code without words of its own is
// shown as it is: it is a name, and the log has it too.
func Reason(code string) string {
	switch code {
	case "":
		return "no reason given"
	case "unexpected_model_request":
		return "Claude Code asked something that is no turn"
	case "no_first_turn":
		return "Claude Code ended before its first turn"
	case "launch_failed":
		return "Claude Code could not be started"
	case "claude_not_found":
		return "Claude Code was not found"
	case "claude_exited":
		return "Claude Code ended by itself"
	case "sandbox_unavailable":
		return "the sandbox does not work here"
	case "shim_lost":
		return "the process of the run is gone"
	}
	return Clean(code)
}

// Lease says how long the holder may still answer at now; "" if that does not
// matter in this status.
func Lease(r Row, now time.Time) string {
	if r.LeaseEnds.IsZero() {
		return ""
	}
	switch r.Status {
	case AwaitingApproval, Stopping, Stopped:
		return ""
	}
	left := r.LeaseEnds.Sub(now)
	if left <= 0 {
		return "lease ended " + Ago(r.LeaseEnds, now)
	}
	return "lease ends in " + Span(left)
}

// NeedsYou reports whether nothing goes on until a person does something.
func NeedsYou(r Row, now time.Time) bool {
	switch r.Status {
	case AwaitingApproval, RecoveryRequired:
		return true
	case WaitingForGPT:
		return !r.LeaseEnds.IsZero() && r.LeaseEnds.Sub(now) < LeaseSoon
	}
	return false
}

// Quiet reports whether nothing is going on that a menu has to show.
func Quiet(r Row) bool {
	switch r.Status {
	case Stopped, LeaseExpired, Failed:
		return true
	}
	return false
}

// Glyph is the sign of the row: its shape, not a colour, tells the states
// apart.
func Glyph(r Row, now time.Time) string {
	switch {
	case r.Status == AwaitingApproval:
		return "◆"
	case NeedsYou(r, now), r.Status == Failed:
		return "▲"
	case r.Status == WaitingForGPT:
		return "◐"
	case Quiet(r), r.Status == Idle:
		return "○"
	}
	return "●"
}

// Ago says how long before now t was.
func Ago(t, now time.Time) string {
	if now.Sub(t) < time.Minute {
		return "just now"
	}
	return Span(now.Sub(t)) + " ago"
}

// Span writes a duration to the minute, from a day on to the hour. It rounds
// down: the end of a lease is never shown later than it is.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "under 1 min"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return twoUnits(d/time.Hour, "h", d%time.Hour/time.Minute, "min")
	}
	return twoUnits(d/day, "d", d%day/time.Hour, "h")
}

func twoUnits(n time.Duration, unit string, rest time.Duration, restUnit string) string {
	if rest == 0 {
		return fmt.Sprintf("%d %s", n, unit)
	}
	return fmt.Sprintf("%d %s %d %s", n, unit, rest, restUnit)
}

// GatewayLine says in one line whether the gateway runs and where.
func GatewayLine(g Gateway) string {
	if !g.Running {
		return "Gateway: not running"
	}
	line := "Gateway " + Clean(g.Version)
	if g.Address != "" {
		line += " · " + Clean(g.Address)
	}
	line = fmt.Sprintf("%s · pid %d", line, g.PID)
	if g.Paused {
		line += " · paused, no session can start"
	}
	return line
}

// TunnelLine says how ChatGPT's way in fares, "" if there is nothing to say.
func TunnelLine(g Gateway, now time.Time) string {
	if !g.Running || g.Tunnel == "" {
		return ""
	}
	line := "Tunnel: " + Shorten(Clean(g.Tunnel), 72)
	if !g.TunnelDown.IsZero() {
		line = "▲ " + line + ", since " + Span(now.Sub(g.TunnelDown))
	}
	return line
}

// ConnectorLine says whether ChatGPT has a way in and when it last used it.
func ConnectorLine(g Gateway, now time.Time) string {
	if !g.Running {
		return "ChatGPT: no way in, the gateway is not running"
	}
	if g.LastRequest.IsZero() {
		if g.Connector == "" {
			return "ChatGPT: not connected"
		}
		return "ChatGPT: connected, no request yet"
	}
	return "ChatGPT: last request " + Ago(g.LastRequest, now)
}
