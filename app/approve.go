package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// answer is one of the two that a person can give.
type answer struct {
	verb string
	give func(c *admin.Client, ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error)
}

var (
	allow  = answer{"approve", (*admin.Client).Approve}
	refuse = answer{"deny", (*admin.Client).Deny}
)

func (a *app) approveCommand() *cobra.Command {
	return a.answerCommand(allow, &cobra.Command{
		Short: "Let a session start that waits for your approval",
		Long: `Let a session start that waits for your approval. Without an ID it is the one
that waits; if there are several they are listed.

With the policy "ask_once" the answer also holds for later sessions of the same
kind in the same folder: see approval in deckhand config --default, and deckhand
trust.`,
		Example: `  deckhand approve             the one that waits
  deckhand approve 4k2m`,
	})
}

func (a *app) denyCommand() *cobra.Command {
	return a.answerCommand(refuse, &cobra.Command{
		Short: "Refuse a session that waits for your approval",
		Long: `Refuse a session that waits for your approval: it never starts. Without an ID
it is the one that waits; if there are several they are listed.`,
		Example: `  deckhand deny                the one that waits
  deckhand deny 4k2m`,
	})
}

func (a *app) answerCommand(what answer, cmd *cobra.Command) *cobra.Command {
	cmd.Use, cmd.GroupID, cmd.Args = what.verb+" [ID]", groupAct, atMostOne
	cmd.ValidArgsFunction = a.completeID
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withView(cmd, func(ctx context.Context, v *view) error { return a.answer(ctx, v, what, strings.Join(args, "")) })
	}
	return a.withJSON(cmd)
}

func (a *app) answer(ctx context.Context, v *view, what answer, arg string) error {
	waiting, err := v.Waiting(ctx)
	if err != nil {
		return err
	}
	if v.live == nil {
		if len(waiting) == 0 {
			return admin.ErrNotRunning
		}
		return withHint(admin.ErrNotRunning, "%s; start one with deckhand serve, then deckhand %s %s",
			counted(len(waiting), "session waits", "sessions wait"), what.verb, arg)
	}
	var one session.Waiting
	switch {
	case arg != "":
		if one, err = a.waitingFor(ctx, v, waiting, arg); err != nil {
			return err
		}
	case len(waiting) == 0 && a.json:
		return a.printJSON(waiting)
	case len(waiting) == 0:
		a.printf("Nothing waits for your approval.\n")
		return nil
	case len(waiting) > 1:
		return a.chooseOne(waiting, what)
	default:
		one = waiting[0]
	}
	snapshot, err := what.give(v.live, ctx, one.SessionID, one.Generation)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(snapshot)
	}
	r := waitingRow(one)
	r.Status = tray.Status(snapshot.Status)
	a.printf("%s  %s: %s\n", one.SessionID, tray.Title(r), tray.Doing(r, a.now()))
	a.printf("  it asked %s\n", tray.Wants(r.Profile, a.home(one.Folder)))
	return nil
}

// waitingFor finds the waiting session that arg names.
func (a *app) waitingFor(ctx context.Context, v *view, waiting []session.Waiting, arg string) (session.Waiting, error) {
	found, err := v.resolve(ctx, arg)
	if err != nil {
		return session.Waiting{}, err
	}
	for _, w := range waiting {
		if w.SessionID == found.SessionID {
			return w, nil
		}
	}
	r := row(found)
	return session.Waiting{}, turn.Refuse(turn.ApprovalNotPending, "session %s does not wait for an answer: %s", found.SessionID, tray.Doing(r, a.now()))
}

// chooseOne lists what waits, for a person who has not said which.
func (a *app) chooseOne(waiting []session.Waiting, what answer) error {
	if a.json {
		return a.printJSON(waiting)
	}
	s := sheet{app: a, paint: a.paint(), now: a.now()}
	for i, w := range waiting {
		if i > 0 {
			s.printf("\n")
		}
		r := waitingRow(w)
		s.printf("%s %s\n", tray.Glyph(r, s.now), s.bold(tray.Title(r)))
		s.line("session id", "%s", w.SessionID)
		s.line("status", "%s", tray.Doing(r, s.now))
		s.asked(w)
	}
	return withHint(usagef("%d sessions wait for your answer", len(waiting)), "name one: deckhand %s %s", what.verb, waiting[0].SessionID)
}

// asked prints what a session that waits wants to do.
func (s sheet) asked(w session.Waiting) {
	s.line("asks", "%s", tray.Wants(string(w.Profile), s.home(w.Folder)))
	s.printf("  %s\n", s.dim(fmt.Sprintf("prompt, %s", size(int64(len(w.Prompt))))))
	s.body("    ", w.Prompt)
}

func waitingRow(w session.Waiting) tray.Row {
	return tray.Row{ID: string(w.SessionID), Label: w.Label, Folder: w.Folder, Profile: string(w.Profile),
		Status: tray.AwaitingApproval, AnswerBy: w.ExpiresAt}
}
