package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// excerpt is how many lines of a text are shown without --full.
const excerpt = 12

func (a *app) showCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "show ID",
		GroupID: groupLook,
		Short:   "Show one session: what it does, its turn, its last result",
		Long: `Show one session: what it does and asked for, its turn, its last result and what
it wrote. Below each call stand the arguments that ChatGPT gave it, on one line;
they can hold anything that it wrote.`,
		Example: `  deckhand show 4k2m
  deckhand show 4k2m --full    texts as long as they are
  deckhand show 4k2m --json`,
		Args:              one,
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withView(cmd, func(ctx context.Context, v *view) error { return a.show(ctx, v, args[0], full) })
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "show texts as long as they are")
	return a.withJSON(cmd)
}

func (a *app) show(ctx context.Context, v *view, arg string, full bool) error {
	summary, err := v.resolve(ctx, arg)
	if err != nil {
		return err
	}
	snapshot, err := v.Inspect(ctx, summary.SessionID)
	if err != nil {
		return err
	}
	shown := shownSession{Snapshot: snapshot, Writes: []session.Write{}}
	if shown.Actions, err = v.Actions(ctx, summary.SessionID); err != nil {
		return err
	}
	if snapshot.Profile.Writes() {
		if shown.Writes, err = v.Writes(ctx, summary.SessionID); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(shown)
	}
	waiting, err := waitingAmong(ctx, v, []session.Summary{summary})
	if err != nil {
		return err
	}
	for _, w := range waiting {
		if w.SessionID == summary.SessionID {
			shown.asks = &w
		}
	}
	sheet := sheet{app: a, paint: a.paint(), full: full, now: a.now(), calls: map[turn.ActionID]session.Action{}}
	for _, action := range shown.Actions {
		sheet.calls[action.ActionID] = action
	}
	sheet.session(answerBy(row(summary), waiting), shown, v.live != nil)
	return nil
}

// shownSession is the JSON of show.
type shownSession struct {
	session.Snapshot
	// Actions are those of the newest turns, oldest first, with their arguments.
	Actions []session.Action `json:"actions"`
	// Writes are those of all runs, newest first.
	Writes []session.Write `json:"writes"`
	// asks is what a person is asked, nil if nothing.
	asks *session.Waiting
}

// sheet prints a session for a person.
type sheet struct {
	*app
	paint
	full bool
	now  time.Time
	// calls are the actions whose arguments are known.
	calls map[turn.ActionID]session.Action
}

// line prints a name and its value, if it has one.
func (s sheet) line(name, format string, args ...any) {
	if value := fmt.Sprintf(format, args...); value != "" {
		s.printf("  %s  %s\n", s.dim(pad(name, len("session id"))), value)
	}
}

// body prints a text of many lines, indented.
func (s sheet) body(indent, text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(printable(text), "\n"), "\n")
	cut := len(lines) - excerpt
	if !s.full && cut > 0 {
		lines = lines[:excerpt]
	}
	for _, l := range lines {
		s.printf("%s%s\n", indent, l)
	}
	if !s.full && cut > 0 {
		s.printf("%s%s\n", indent, s.dim(fmt.Sprintf("… %d more lines, see --full", cut)))
	}
}

// session prints what is known: r is the line of the list, which knows the lease
// that the whole state keeps for its holder.
func (s sheet) session(r tray.Row, snap shownSession, live bool) {
	s.printf("%s %s\n", tray.Glyph(r, s.now), s.bold(tray.Title(r)))
	s.line("session id", "%s", snap.SessionID)
	s.line("status", "%s", s.paint.status(snap.Status, tray.Doing(r, s.now)))
	if !live {
		s.line("gateway", "%s", s.yellow("not running: this is how the last one left it"))
	}
	s.line("lease", "%s", tray.Lease(r, s.now))
	s.line("profile", "%s", tray.Profile(r.Profile))
	s.workspace(snap.Snapshot)
	if approval := snap.Approval; approval != nil {
		s.line("approval", "%s", tray.Approval(approval.State, approval.ExpiresAt, s.now))
	}
	if snap.ClaudeSessionID != nil {
		s.line("claude id", "%s", *snap.ClaudeSessionID)
	}
	if run := snap.CurrentRun; run != nil {
		s.line("run", "%d, %d turns, %d actions, since %s", run.Number, run.Turns, run.Actions, s.at(run.StartedAt))
		for _, action := range run.Running {
			s.line("running", "%s, %d s, %s", tray.Clean(action.Name), action.Seconds, size(action.Bytes))
			s.arguments("              ", action.ActionID)
		}
	}
	if e := snap.LaunchError; e != nil {
		s.line("failed", "%s", s.red(tray.Clean(fmt.Sprintf("%s: %s", e.Code, e.Message))))
	}
	if stop := snap.StopRequest; stop != nil {
		s.line("stopped by", "%s at %s", tray.Clean(stop.By), s.at(stop.At))
		s.line("reason", "%s", tray.Clean(stop.Reason))
	}
	if snap.asks != nil {
		s.asked(*snap.asks)
	}
	s.history(snap.Snapshot)
	s.pending(snap.PendingTurn)
	s.last(snap.LastResult)
	s.writes(snap)
	s.printf("\n%s\n", s.dim(s.nextStep(snap.Snapshot, live)))
}

// pending prints the turn that waits for ChatGPT.
func (s sheet) pending(t *session.PendingTurn) {
	if t == nil {
		return
	}
	s.printf("\n%s\n", s.bold(fmt.Sprintf("Turn %d waits for ChatGPT since %s", t.Sequence, s.at(t.OpenedAt))))
	if t.Prompt != nil {
		s.printf("  %s\n", s.dim(fmt.Sprintf("prompt, %s", size(int64(len(*t.Prompt))))))
		s.body("    ", *t.Prompt)
	}
	s.results("  ", t.Results, true)
}

// results prints receipts, with their texts if asked to.
func (s sheet) results(indent string, results []session.Result, texts bool) {
	for _, r := range results {
		mark := s.green("✓")
		what := ""
		if r.Outcome != turn.OK {
			mark = s.red("✗")
			what = ", " + s.red(string(r.Outcome))
			if r.Receipt.Code != nil {
				what = ", " + s.red(tray.Clean(string(*r.Receipt.Code)))
			}
		}
		took := ""
		if at := r.Receipt.StartedAt; at != nil {
			took = fmt.Sprintf(", %s", r.Receipt.FinishedAt.Sub(*at).Round(time.Millisecond))
		}
		s.printf("%s%s %s%s, %s%s  %s\n", indent, mark, tray.Clean(r.Name), what, size(r.Bytes), took, s.dim("sha256 "+r.SHA256[:min(12, len(r.SHA256))]))
		s.arguments(indent+"  ", r.ActionID)
		if texts && s.full {
			s.body(indent+"    ", r.Text)
		}
	}
}

// argumentsShown is how many characters of arguments are shown without --full.
const argumentsShown = 100

// arguments prints what an action was asked, on one line.
func (s sheet) arguments(indent string, id turn.ActionID) {
	action, known := s.calls[id]
	if !known {
		return
	}
	line, cut := strings.ReplaceAll(printable(action.Arguments), "\n", " "), action.Truncated
	if runes := []rune(line); !s.full && len(runes) > argumentsShown {
		line, cut = string(runes[:argumentsShown]), true
	}
	if cut {
		line += "…  (" + size(action.Bytes) + ")"
	}
	s.printf("%s%s\n", indent, s.dim(line))
}

// history prints the turns before, oldest first.
func (s sheet) history(snap session.Snapshot) {
	if len(snap.History) == 0 {
		return
	}
	s.printf("\n%s\n", s.bold("Turns so far"))
	if snap.HistoryTruncated {
		s.printf("  %s\n", s.dim("older ones are left out"))
	}
	for _, t := range snap.History {
		if t.Prompt == "" && t.Text == "" && len(t.Results) == 0 {
			continue // the turn that waits
		}
		s.printf("  %s\n", s.dim(fmt.Sprintf("turn %d", t.Sequence)))
		if t.Prompt != "" {
			s.printf("    prompt: %s\n", s.oneLine(t.Prompt))
		}
		s.results("    ", t.Results, false)
		if t.Text != "" {
			s.printf("    answer: %s\n", s.oneLine(t.Text))
		}
	}
}

func (s sheet) oneLine(text string) string {
	clean := tray.Clean(text)
	if s.full {
		return clean
	}
	return tray.Shorten(clean, 100)
}

func (s sheet) last(l *session.LastResult) {
	if l == nil {
		return
	}
	title := fmt.Sprintf("Last run %s at %s", l.Outcome, s.at(l.FinishedAt))
	s.printf("\n%s\n", s.bold(tray.Clean(title)))
	s.body("  ", l.Text)
	if l.Changes == nil {
		return
	}
	for _, f := range l.Changes.Files {
		s.printChange(f.Added, f.Removed, f.Path, f.Notes)
	}
	if s.full {
		s.body("    ", l.Changes.Diff)
	}
	if l.Changes.Truncated {
		s.printf("  %s\n", s.dim("there is more than is kept here"))
	}
}

// nextStep says what a person can do.
func (s sheet) nextStep(snap session.Snapshot, live bool) string {
	id := snap.SessionID
	switch {
	case !live && (snap.Status.Live() || snap.Status == turn.AwaitingApproval):
		return "to go on: deckhand serve"
	case snap.Status == turn.AwaitingApproval:
		return fmt.Sprintf("to let it start: deckhand approve %s\nto refuse it: deckhand deny %[1]s", id)
	case snap.Terminal != nil && snap.Terminal.Outcome == "denied":
		return "it was refused and does not start again"
	case removed(snap.Workspace):
		return "its worktree was removed, so that it does not go on; what was committed is on " + tray.Clean(snap.Workspace.Branch)
	case snap.Status == turn.RecoveryRequired, snap.Status == turn.LeaseExpired, snap.Status == turn.Stopped:
		return fmt.Sprintf("to take it up in a new chat: deckhand recover %s", id)
	case snap.Status == turn.Stopping:
		return "it is being ended"
	}
	return fmt.Sprintf("to end it: deckhand stop %s", id)
}

// at writes a time of today by the clock, any other with its date.
func (s sheet) at(t time.Time) string {
	t = t.Local()
	if t.Format(time.DateOnly) == s.now.Local().Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}
