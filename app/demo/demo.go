package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"deckhand/app/demo/chatgpt"
	"deckhand/app/demo/child"
)

// cleanupWithin bounds the orderly end after an error or an interrupt.
const cleanupWithin = 60 * time.Second

// Options say what to show, and where.
type Options struct {
	// Dir is the directory to explore, which Run may find unfit; "" means a
	// fresh copy of the sample.
	Dir string
	// Self is the deckhand binary, Claude the Claude Code binary; "" lets the
	// gateway look for one.
	Self, Claude string
	// Out gets the story. If it is a terminal, its width is used.
	Out io.Writer
	// Color allows ANSI colours.
	Color bool
	// AllowRoot is passed on to the gateway.
	AllowRoot bool
}

// demo is one showing.
type demo struct {
	opt     Options
	tell    *teller
	temp    string // everything temporary is in here
	dir     string // the directory that is explored
	gateway *child.Gateway
	client  *chatgpt.Client
	live    []*chatgpt.Session // started and not stopped
	shown   map[string]bool    // digests of the results that were printed
	tally   tally
}

// tally counts what happened, for the last lines.
type tally struct {
	sessions, turns, actions, kills int
	bytes                           int64
}

// Run shows the demo. It returns nil only if everything was as it has to be and
// nothing is left behind. A cancelled ctx ends it early, in order, and so does
// an Out that takes no more; for the latter a broken pipe must be an error of
// the write and not a signal. The error is an *UnfitError, and nothing was
// started, if there is nothing to show in Dir.
func Run(ctx context.Context, opt Options) (err error) {
	var dir string
	if opt.Dir != "" {
		if dir, err = fit(opt.Dir); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "deckhand-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	// On macOS the temporary directory is reached through a link.
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return fmt.Errorf("resolve the temporary directory: %w", err)
	}
	release, err := adoptOrphans()
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	defer release()
	watched, unwatched := context.WithCancel(ctx)
	defer unwatched()
	d := &demo{opt: opt, tell: newTeller(opt.Out, opt.Color, unwatched), temp: temp, dir: dir, shown: map[string]bool{}}
	err = d.show(watched)
	if err != nil {
		d.tell.say(demoS, "stopped early; what was started is ended now")
	}
	cleaned, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWithin)
	defer cancel()
	left := d.clean(cleaned)
	if err == nil && left == nil {
		d.tell.summary(d.tally)
	}
	return outcome(err, left, d.tell.err)
}

// outcome puts together how the show, the cleanup and the writing went. An
// interrupt, whoever caused it, must not hide what else went wrong.
func outcome(shown, left, written error) error {
	if errors.Is(shown, context.Canceled) && (left != nil || written != nil) {
		shown = nil
	}
	if written != nil {
		written = fmt.Errorf("write the story: %w", written)
	}
	return errors.Join(shown, left, written)
}

// show tells the whole story.
func (d *demo) show(ctx context.Context) error {
	d.tell.line(d.tell.paint("1", "Deckhand demo"))
	d.tell.paragraph("ChatGPT's side of the conversation is a script that speaks real MCP. The gateway, Claude Code, " +
		"the files and the receipts are real.")
	d.tell.line("")
	if err := d.prepare(ctx); err != nil {
		return err
	}
	if err := d.connect(ctx); err != nil {
		return err
	}
	if err := d.session(ctx, d.dir, nil); err != nil {
		return err
	}
	return d.session(ctx, "/", d.crash)
}

// prepare makes the temporary state, the sample and the gateway's process.
func (d *demo) prepare(ctx context.Context) error {
	state, scratch := filepath.Join(d.temp, "state"), filepath.Join(d.temp, "tmp")
	for _, dir := range []string{state, scratch} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make temporary state: %w", err)
		}
	}
	if d.opt.Dir == "" {
		if err := d.copied(); err != nil {
			return err
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home directory: %w", err)
	}
	var args []string
	if d.opt.AllowRoot {
		args = append(args, "--allow-root")
	}
	d.gateway = child.New(child.Options{
		Self: d.opt.Self, Claude: d.opt.Claude, State: state, Home: home, Args: args,
		Env: []string{"TMPDIR=" + scratch},
	})
	if err := d.gateway.Start(ctx); err != nil {
		return err
	}
	status, err := d.gateway.Status(ctx)
	if err != nil {
		return fmt.Errorf("ask the gateway: %w", err)
	}
	d.tell.say(gatewayS, "deckhand %s listens on %s, its state is temporary", status.Version, d.gateway.Address())
	if !status.Sandbox.OK {
		return fmt.Errorf("the sandbox does not work here: %s. %s", status.Sandbox.Detail, status.Sandbox.Remedy)
	}
	d.tell.say(gatewayS, "%s works; Claude Code %s runs in it", status.Sandbox.Kind, status.Claude.Version)
	return nil
}

// copied puts the sample where it is explored.
func (d *demo) copied() error {
	d.dir = filepath.Join(d.temp, "rainbarrel")
	files, err := copySample(d.dir)
	if err != nil {
		return err
	}
	d.tell.say(demoS, "a sample project of %s lies in %s", count(files, "file"), d.dir)
	return nil
}

// connect does what ChatGPT does when a connector is added, and checks that it
// is offered the six tools.
func (d *demo) connect(ctx context.Context) error {
	client, err := chatgpt.Connect(ctx, chatgpt.Options{
		URL: d.gateway.URL(), Token: d.gateway.Token(), Conversation: chatgpt.Key(),
	})
	if err != nil {
		return err
	}
	d.client = client
	tools, err := client.Tools(ctx)
	if err != nil {
		return err
	}
	offered := map[string]bool{}
	for _, tool := range tools {
		offered[tool.Name] = true
	}
	for _, name := range chatgpt.ToolNames() {
		if !offered[name] {
			return fmt.Errorf("the gateway does not offer %s", name)
		}
	}
	if len(tools) != len(chatgpt.ToolNames()) {
		return fmt.Errorf("the gateway offers %s, not six", count(len(tools), "tool"))
	}
	d.tell.say(chatGPT, "connects with MCP %s and finds the six tools", client.Version())
	return nil
}

// check is one thing that has to be so.
func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
