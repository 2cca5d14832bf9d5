package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"deckhand/gateway"
	"deckhand/gateway/admin"
	"deckhand/gateway/control"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// Pace of a desk.
const (
	// deskRest is how long after a look at the gateway the next one waits: what
	// happens in a burst is looked at together.
	deskRest = 250 * time.Millisecond
	// noticeTimeout bounds how long a notification may take to be shown.
	noticeTimeout = 5 * time.Second
)

// desk is what a person sees of a gateway on the desktop: it feeds the menu,
// shows notices, and carries out what is clicked. It is a client of the gateway
// like every command, so the menu can do nothing that the command line cannot.
type desk struct {
	*app
	settings Settings
	client   *admin.Client
	menu     *tray.Menu
	notifier *tray.Notifier
	log      *slog.Logger
	// greetings holds a token while another start waits to be told of.
	greetings chan struct{}
	// quit ends the app.
	quit context.CancelFunc
}

// runWithMenu is the command that has no name.
func (a *app) runWithMenu(cmd *cobra.Command, _ []string) error {
	root, err := cmd.Flags().GetBool("allow-root")
	if err != nil {
		return err
	}
	bare, err := cmd.Flags().GetBool("no-tray")
	if err != nil {
		return err
	}
	s, err := a.load(cmd)
	if err != nil {
		return err
	}
	return a.serve(cmd.Context(), s, root, !bare)
}

// greet ends a second start: it brings the app that runs to the user's notice.
func (a *app) greet(ctx context.Context, running *admin.Client, status admin.Status) error {
	noticed, err := running.Greet(ctx)
	if err != nil {
		return err
	}
	a.printf("%s, process %d.\n", "Deckhand is already running", status.PID)
	if !noticed {
		a.printf("  It shows no menu. Look at it with: deckhand sessions\n")
	}
	return nil
}

// newDesk returns a desk, or why there can be none.
func (a *app) newDesk(s Settings, log *slog.Logger) (*desk, error) {
	port, err := tray.NewPort(log)
	if err != nil {
		return nil, err
	}
	d := &desk{app: a, settings: s, notifier: tray.NewNotifier(), log: log, greetings: make(chan struct{}, 1)}
	d.menu = tray.NewMenu(port, d.do, log)
	return d, nil
}

// run runs the gateway and shows its menu, until ctx ends, the user quits, or
// the gateway fails. It has to be called on the main thread.
func (d *desk) run(ctx context.Context, g *gateway.Gateway) (err error) {
	ctx, d.quit = context.WithCancel(ctx)
	defer d.quit()
	if d.client, err = admin.NewClient(d.settings.StateDir); err != nil {
		return errors.Join(err, g.Close())
	}
	served := make(chan error, 1)
	go func() {
		served <- g.Run(ctx)
		d.quit()
	}()
	var work sync.WaitGroup
	work.Go(func() { d.watch(ctx) })
	work.Go(func() { d.tellGreetings(ctx) })
	// Called once, also when the system ends the program without letting Run
	// return: the gateway has ended in good order then.
	d.menu.Run(ctx, func() {
		d.quit()
		err = <-served
		work.Wait()
	})
	return errors.Join(err, d.notifier.Close())
}

// greeted takes note that another start wants this app to be noticed.
func (d *desk) greeted() {
	select {
	case d.greetings <- struct{}{}:
	default:
	}
}

// tellGreetings tells of other starts until ctx ends.
func (d *desk) tellGreetings(ctx context.Context) {
	for {
		select {
		case <-d.greetings:
			d.notify(ctx, tray.Notice{Title: "Deckhand is already running", Body: "Its icon is in your menu bar."})
		case <-ctx.Done():
			return
		}
	}
}

// watch keeps the menu true until ctx ends.
func (d *desk) watch(ctx context.Context) {
	d.welcome(ctx)
	var was *tray.Model
	var seen uint64 // the event as of which the menu is
	for ctx.Err() == nil {
		model, asOf, err := d.model(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			d.log.Warn("look at the gateway for the menu", "err", err)
			d.menu.Show(tray.Model{})
		default:
			d.menu.Show(model)
			if notice, ok := tray.NoticeOf(was, model); ok {
				d.notify(ctx, notice)
			}
			was, seen = &model, asOf
		}
		if !pauseFor(ctx, deskRest) {
			return
		}
		d.await(ctx, seen, tray.NextNotice(model))
	}
}

// await returns when something has happened after seen, at the latest at until
// unless that is zero, and after admin.PollTimeout.
func (d *desk) await(ctx context.Context, seen uint64, until time.Time) {
	var cancel context.CancelFunc
	if until.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, until)
	}
	defer cancel()
	// An error says that the gateway is ending, or that time is up: the next look
	// tells.
	_, _, _ = d.client.NextEvents(ctx, seen, "")
}

// model copies what is true now, and returns the number of an event after which
// what happens may not be in it.
func (d *desk) model(ctx context.Context) (m tray.Model, asOf uint64, err error) {
	status, err := d.client.Status(ctx)
	if err != nil {
		return m, 0, err
	}
	sessions, err := d.client.List(ctx)
	if err != nil {
		return m, 0, err
	}
	waiting, err := waitingAmong(ctx, d.client, sessions)
	if err != nil {
		return m, 0, err
	}
	m = tray.Model{Now: d.now(), Gateway: gatewayRow(status), KeepAwake: status.Switches.KeepAwake,
		StartAtLogin: d.startsAtLogin(), FirstStart: len(sessions) == 0}
	for _, s := range sessions {
		r := answerBy(row(s), waiting)
		r.Where = d.home(cmp.Or(r.Source, r.Folder))
		m.Rows = append(m.Rows, r)
	}
	return m, status.LastEvent, nil
}

// welcome tells who starts Deckhand for the first time what it is, once.
func (d *desk) welcome(ctx context.Context) {
	mark := filepath.Join(d.settings.StateDir, "welcomed")
	f, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		d.log.Warn("remember the first start", "err", err)
		return
	}
	d.notify(ctx, tray.Welcome())
}

// notify shows a notice. That nothing shows it is no fault: the icon tells.
func (d *desk) notify(ctx context.Context, n tray.Notice) {
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	if err := d.notifier.Show(ctx, n); err != nil {
		d.log.Info("a notification was not shown", "title", n.Title, "err", err)
	}
}

// do carries out what was clicked, and says what came of it where that does not
// show in the menu.
func (d *desk) do(ctx context.Context, c tray.Command) {
	said, err := d.carryOut(ctx, c)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.log.Warn("a command of the menu failed", "command", fmt.Sprintf("%T", c), "err", err)
		text := message(err)
		if hint := hintOf(err); hint != "" {
			text += "; " + hint
		}
		d.notify(ctx, tray.Notice{Title: "That did not work", Body: tray.Clean(text), Urgent: true})
	case said != "":
		d.notify(ctx, tray.Notice{Title: "Deckhand", Body: tray.Clean(said)})
	}
}

// stoppedInMenu is the reason of a stop that was clicked.
const stoppedInMenu = "stopped in the menu"

func (d *desk) carryOut(ctx context.Context, c tray.Command) (said string, err error) {
	switch c := c.(type) {
	case tray.Approve:
		_, err = d.client.Approve(ctx, turn.SessionID(c.ID), c.Generation)
	case tray.Deny:
		_, err = d.client.Deny(ctx, turn.SessionID(c.ID), c.Generation)
	case tray.StopSession:
		_, err = d.client.Stop(ctx, turn.SessionID(c.ID), stoppedInMenu)
	case tray.CopyRecoveryPrompt:
		return d.copyRecoveryPrompt(ctx, turn.SessionID(c.ID))
	case tray.UndoLast:
		report, err := undoLast(ctx, d.client, turn.SessionID(c.ID), false)
		return undoWords(report), err
	case tray.UndoSession:
		report, err := d.client.UndoSession(ctx, turn.SessionID(c.ID), false)
		return undoWords(report), err
	case tray.OpenFolder:
		err = d.reveal(ctx, c.Path)
	case tray.CopyID:
		err = d.copy(ctx, c.ID)
	case tray.OpenLog:
		err = d.reveal(ctx, logPath(d.settings.StateDir))
	case tray.CopyStarterPrompt:
		if err = d.copy(ctx, control.StarterPrompt()); err == nil {
			said = "The starter prompt is on the clipboard. Paste it into a new chat in which Deckhand is switched on."
		}
	case tray.ConnectChatGPT:
		said = "There is no way in for ChatGPT on the web yet. In a terminal, deckhand doctor says how clients on this computer connect."
	case tray.Pause:
		_, err = d.client.Flip(ctx, turn.PauseSwitch, c.On)
	case tray.AskBeforeWrite:
		_, err = d.client.Flip(ctx, turn.AskSwitch, c.On)
	case tray.KeepAwake:
		_, err = d.client.Flip(ctx, turn.AwakeSwitch, c.On)
	case tray.StartAtLogin:
		err = d.startAtLogin(c.On)
	case tray.StopAll:
		_, err = stopEach(ctx, d.client, stoppedInMenu, func(session.Summary, session.Snapshot) {})
	case tray.Quit:
		d.quit()
	case tray.StopAllAndQuit:
		if _, err = stopEach(ctx, d.client, stoppedInMenu, func(session.Summary, session.Snapshot) {}); err == nil {
			d.quit()
		}
	}
	return said, err
}

func (d *desk) copyRecoveryPrompt(ctx context.Context, id turn.SessionID) (string, error) {
	found, err := (&view{source: d.client}).resolve(ctx, string(id))
	if err != nil {
		return "", err
	}
	prompt, err := recoveryPrompt(ctx, d.client, found)
	if err != nil {
		return "", err
	}
	if err := d.copy(ctx, prompt); err != nil {
		return "", withHint(err, "or run: deckhand recover %s", id)
	}
	return "The prompt for a new chat is on the clipboard. It holds the token of the session: show it to nobody else.", nil
}

// undoWords says what an undo did, without the names of what was written.
func undoWords(r session.UndoReport) string {
	text := counted(len(r.Undone), "write was", "writes were") + " undone"
	if n := len(r.Conflicts); n > 0 {
		text += fmt.Sprintf("; %d left, because the files have changed since: deckhand show says which", n)
	}
	return text + "."
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
