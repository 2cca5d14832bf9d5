package tray

import (
	"cmp"
	"fmt"
	"path"
	"time"
)

// Notice is one notification. It is complete without a click, and holds of
// what a model wrote only the session's label.
type Notice struct {
	// About is the session's id, or "" for the gateway. A later notice about
	// the same replaces the earlier one.
	About string
	Title string
	Body  string
	// Urgent says that a person has to do something.
	Urgent bool
}

// Welcome tells who starts Deckhand for the first time what it is.
func Welcome() Notice {
	return Notice{Title: "Deckhand is in your menu bar",
		Body: "Through it ChatGPT works with Claude Code on this machine, and you see and stop everything. To begin, open its menu and choose Connect ChatGPT…"}
}

// NoticeOf says what a person should hear about the change from was to is, if
// anything: at most one notice a change. was is nil for the first model.
func NoticeOf(was *Model, is Model) (Notice, bool) {
	var all []Notice
	before := map[string]Row{}
	if was != nil {
		for _, r := range was.Rows {
			before[r.ID] = r
		}
	}
	for _, r := range is.Rows {
		b, known := before[r.ID]
		var then time.Time
		if was != nil {
			then = was.Now
		}
		if n, ok := about(b, known, then, r, is.Now, was == nil); ok {
			all = append(all, n)
		}
	}
	if was != nil && was.Gateway.Running && is.Gateway.Running && was.Gateway.TunnelDown.IsZero() && !is.Gateway.TunnelDown.IsZero() {
		all = append(all, Notice{Title: "ChatGPT cannot reach this machine", Body: "The tunnel is down. Sessions wait; deckhand doctor says more.", Urgent: true})
	}
	switch len(all) {
	case 0:
		return Notice{}, false
	case 1:
		return all[0], true
	}
	n := Notice{Title: fmt.Sprintf("%d things happened", len(all)), Body: "Open the menu to see them."}
	urgent := 0
	for _, one := range all {
		if one.Urgent {
			urgent++
		}
	}
	if urgent > 0 {
		n.Title, n.Urgent = verb(urgent, "needs you", "need you"), true
	}
	return n, true
}

// about says what is to be heard about one session. first says that nothing was
// known before: what was so already is not told again, but for what a restart
// left behind.
func about(was Row, known bool, then time.Time, is Row, now time.Time, first bool) (Notice, bool) {
	name, folder := Shorten(Title(is), MaxTitle), Shorten(Clean(path.Base(cmp.Or(is.Source, is.Folder))), MaxTitle)
	n := Notice{About: is.ID}
	switch {
	case is.Status == AwaitingApproval && (!known || was.Status != AwaitingApproval || was.Generation != is.Generation):
		n.Title, n.Urgent = "A session asks you", true
		n.Body = fmt.Sprintf("%s wants to %s %s. Open the menu to approve or deny.", name, deed(is.Profile), folder)
		if !is.AnswerBy.IsZero() {
			n.Body += " " + Left(is.AnswerBy, now) + "."
		}
	case is.Status == RecoveryRequired && (first || known && was.Status != RecoveryRequired):
		n.Title, n.Urgent = "A session lost its Claude Code", true
		n.Body = fmt.Sprintf("%s in %s needs recovery. Its menu has the prompt for a new chat.", name, folder)
	case first:
		return n, false
	case !known && is.Profile == "direct_write":
		n.Title = "A session writes in a folder of yours"
		n.Body = fmt.Sprintf("%s may now change files in %s. Its menu stops it and takes writes back.", name, folder)
	case is.Status == Failed && (!known || was.Status != Failed):
		n.Title = "A run failed"
		n.Body = fmt.Sprintf("%s in %s: %s.", name, folder, Reason(is.Code))
	case is.Status == WaitingForGPT && NeedsYou(is, now) && known && !NeedsYou(was, then):
		n.Title, n.Urgent = "A lease is about to end", true
		n.Body = fmt.Sprintf("%s in %s has waited %s for ChatGPT; its lease ends in %s.", name, folder, Span(now.Sub(is.TurnOpened)), Span(is.LeaseEnds.Sub(now)))
	default:
		return n, false
	}
	return n, true
}

// deed is what a profile does with a folder.
func deed(profile string) string {
	switch profile {
	case "read_only":
		return "read, starting in"
	case "worktree_write":
		return "write in a worktree of"
	}
	return "write in"
}

// NextNotice is when there may be something to tell though nothing happened;
// zero if there is nothing to wait for.
func NextNotice(m Model) time.Time {
	var first time.Time
	for _, r := range m.Rows {
		if r.Status != WaitingForGPT || r.LeaseEnds.IsZero() || NeedsYou(r, m.Now) {
			continue
		}
		if at := r.LeaseEnds.Add(-LeaseSoon + 1); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}
