package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"deckhand/gateway"
	"deckhand/gateway/admin"
	"deckhand/gateway/ledger"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (d *doctor) version() check {
	return ok("deckhand", "%s on %s/%s", version(), runtime.GOOS, runtime.GOARCH)
}

func (d *doctor) config() check {
	if d.broken != nil {
		return check{Name: "settings", Evidence: message(d.broken) + "; the other lines go by the defaults"}.
			as(bad, "correct what it says; deckhand config --default shows a file with everything explained")
	}
	if d.settings.File == "" {
		return ok("settings", "no settings file, all defaults")
	}
	return ok("settings", "%s", d.settings.File)
}

func (d *doctor) state() check {
	const name = "state directory"
	dir := d.settings.StateDir
	err := checkState(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check{Name: name, Evidence: dir + " does not exist yet"}.as(off, "the first deckhand serve makes it")
	case err != nil:
		return check{Name: name, Evidence: message(err)}.as(bad, "%s", hintOf(err))
	}
	return ok(name, "%s, open to you alone", dir)
}

// room says how much of the disk everything takes that is kept.
func (d *doctor) room(ctx context.Context) check {
	const name = "disk"
	cfg, err := d.gatewayConfig(d.settings)
	if err != nil {
		return check{Name: name, Evidence: message(err)}.as(worry, "%s", hintOf(err))
	}
	rooms, err := gateway.Usage(ctx, cfg)
	if err != nil {
		return check{Name: name, Evidence: message(err)}.as(worry, "see that these folders can be read")
	}
	c := check{Name: name, Verdict: good, Rooms: rooms}
	var parts []string
	for _, r := range rooms {
		parts = append(parts, r.Name+" "+size(r.Bytes))
	}
	c.Evidence = strings.Join(parts, ", ") + "; deckhand prune removes old sessions"
	return c
}

// sandbox starts the canaries in a sandbox of its own, whether or not a gateway
// runs.
func (d *doctor) sandbox(ctx context.Context) check {
	const name = "sandbox"
	self, err := os.Executable()
	if err != nil {
		return check{Name: name, Evidence: err.Error()}.as(bad, "install Deckhand again")
	}
	launcher, err := sandbox.Find(sandbox.Config{Self: self, Bubblewrap: d.settings.Bubblewrap})
	if err == nil {
		err = launcher.SelfTest(ctx)
	}
	if err == nil {
		return ok(name, "%s confines: every attempt to get out failed", sandbox.Kind)
	}
	c := check{Name: name, Verdict: bad, Evidence: message(err)}
	refusal, isRefusal := errors.AsType[*turn.Refusal](err)
	if !isRefusal {
		return c
	}
	c.Evidence = refusal.Detail
	if evidence, cure, found := strings.Cut(refusal.Detail, "to cure it: "); found {
		c.Evidence, c.Remedy = strings.TrimRight(evidence, "; "), cure
	}
	if refusal.Cause != nil {
		c.Evidence += " (" + refusal.Cause.Error() + ")"
	}
	return c
}

// gateway asks the running gateway about itself; the checks after it use what
// it said.
func (d *doctor) gateway(ctx context.Context) check {
	const name = "gateway"
	if d.down = checkState(d.settings.StateDir); d.down == nil {
		d.client, d.status, d.down = d.dial(ctx, d.settings)
	}
	switch {
	case d.down == nil:
	case errors.Is(d.down, admin.ErrNotRunning), errors.Is(d.down, fs.ErrNotExist):
		return check{Name: name, Evidence: "not running"}.as(bad, "start it with: %s", serveAs(os.Geteuid()))
	default:
		return check{Name: name, Evidence: message(d.down)}.as(bad, "%s", hintOf(d.down))
	}
	c := ok(name, "%s, process %d, up %s", d.status.Version, d.status.PID, tray.Span(d.now().Sub(d.status.StartedAt)))
	if d.status.Version != version() {
		return c.as(worry, "it is of another version than this command: end it and run deckhand serve")
	}
	if len(d.status.Warnings) > 0 {
		c.Evidence += "; it warns: " + strings.Join(d.status.Warnings, "; ")
		return c.as(worry, "see the lines above")
	}
	return c
}

// serveAs is how a user starts the gateway.
func serveAs(uid int) string {
	if uid == 0 {
		return "deckhand serve, as an ordinary user, or with --allow-root on a machine that holds nothing else"
	}
	return "deckhand serve"
}

// endpoint does what an MCP client does first, with the token.
func (d *doctor) endpoint(ctx context.Context) check {
	const name = "local address"
	if d.down != nil {
		return check{Name: name, Evidence: "not asked, because no gateway is running"}.as(off, "start it with: deckhand serve")
	}
	token, err := d.client.Token(ctx)
	if err != nil {
		return check{Name: name, Evidence: message(err)}.as(bad, "%s", hintOf(err))
	}
	began := time.Now()
	tools, err := probe(ctx, "http://"+d.status.LocalAddress+"/mcp", token)
	if err != nil {
		return check{Name: name, Evidence: fmt.Sprintf("http://%s/mcp: %s", d.status.LocalAddress, err)}.
			as(bad, "another program may have taken the address; the log says more: %s", logPath(d.settings.StateDir))
	}
	return ok(name, "http://%s/mcp answers with %d tools in %s", d.status.LocalAddress, len(tools), time.Since(began).Round(time.Millisecond))
}

func (d *doctor) chatGPT() check {
	const name = "ChatGPT"
	if d.down != nil {
		return check{Name: name, Evidence: "not connected, because no gateway is running"}.as(off, "start it with: deckhand serve")
	}
	words := tray.ConnectorLine(gatewayRow(d.status), d.now())
	c := ok(name, "%s", strings.TrimPrefix(words, "ChatGPT: "))
	if d.status.Connector == "none" {
		return c.as(off, "no tunnel leads to %s yet; clients on this machine can use the local address", d.status.ConnectorAddress)
	}
	return c
}

// records checks the invariants of the ledger. Only one process can have it
// open for writing, so a running gateway has to end first.
func (d *doctor) records(ctx context.Context) (c check) {
	const name = "ledger"
	if d.down == nil {
		return check{Name: name, Evidence: "not checked: the running gateway has it open"}.
			as(worry, "end the gateway, which leaves runs alive, and ask again")
	}
	reader, err := gateway.OpenReader(d.settings.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check{Name: name, Evidence: "there is none yet"}.as(off, "the first deckhand serve makes it")
	case errors.Is(err, ledger.ErrInUse):
		return check{Name: name, Evidence: "another process has it open and does not answer"}.
			as(bad, "end the process that holds the files below %s", d.settings.StateDir)
	case err != nil:
		return check{Name: name, Evidence: message(err)}.as(bad, "keep a copy of %s before you do anything else", d.settings.StateDir)
	}
	defer func() {
		if err := reader.Close(); err != nil && c.Verdict == good {
			c = check{Name: name, Evidence: message(err)}.as(bad, "check the disk")
		}
	}()
	broken, err := reader.CheckLedger(ctx)
	if err != nil {
		return check{Name: name, Evidence: message(err)}.as(bad, "keep a copy of %s before you do anything else", d.settings.StateDir)
	}
	if len(broken) > 0 {
		return check{Name: name, Evidence: fmt.Sprintf("%d broken records: %s", len(broken), errors.Join(broken...))}.
			as(bad, "keep a copy of %s and report this", d.settings.StateDir)
	}
	return ok(name, "every record is sound")
}
