package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"deckhand/gateway/admin"
	"deckhand/gateway/ledger"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// TestAServedGatewayAnswersTheCommandLine runs the real gateway, and the
// commands as its clients.
func TestAServedGatewayAnswersTheCommandLine(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(w.state); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "DECKHAND_CLAUDE="+realClaude(t), "DECKHAND_LISTEN=127.0.0.1:0", "DECKHAND_CONNECTOR_LISTEN=127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	out := &lines{got: make(chan string, 20)}
	done := make(chan result, 1)
	go func() { done <- w.runIn(ctx, out, "serve", "--allow-root") }()
	ended := false
	t.Cleanup(func() {
		stop()
		if !ended {
			<-done
		}
	})
	if first := <-out.got; !strings.Contains(first, "is running") {
		t.Fatalf("serve says %q", first)
	}
	for range 5 {
		<-out.got // the rest of what it says
	}

	token := w.run("token")
	if token.code != exitOK || len(token.out) < 26 {
		t.Errorf("token: %+v", token)
	}
	rotated := w.run("token", "--rotate")
	if rotated.code != exitOK || rotated.out == token.out {
		t.Errorf("token --rotate: %+v, before %q", rotated, token.out)
	}
	rows, _ := w.doctor("--ledger")
	w.expect(rows, map[string]verdict{"Claude Code": good, "sandbox": good, "state directory": good, "gateway": good,
		"local address": good, "ChatGPT": off, "ledger": worry})
	if r := w.run("sessions"); r.code != exitOK || !strings.Contains(r.out, "No sessions yet") || r.err != "" {
		t.Errorf("sessions: %+v", r)
	}
	if r := w.run("serve", "--allow-root"); r.code != exitFailed || !strings.Contains(r.err, "already running") {
		t.Errorf("a second serve: %+v", r)
	}

	stop()
	r := <-done
	ended = true
	if r.code != exitOK || r.err != "" {
		t.Errorf("serve ended with %+v", r)
	}
	if r := w.run("sessions"); r.code != exitOK || !strings.Contains(r.out, "Gateway: not running") {
		t.Errorf("sessions after the end: %+v", r)
	}
	if r := w.run("token"); r.out != rotated.out {
		t.Errorf("token after the end: %+v", r)
	}
	rows, _ = w.doctor("--ledger")
	w.expect(rows, map[string]verdict{"gateway": bad, "ledger": good})
	w.private(token.out, rotated.out)
}

// private checks that everything in the state directory is the user's alone,
// and that the log holds no secret.
func (w *world) private(secrets ...string) {
	w.t.Helper()
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	log, err := os.ReadFile(logPath(w.state))
	if err != nil {
		w.t.Fatal(err)
	}
	if n := strings.Count(string(log), `"msg":"starting"`); n != 1 {
		w.t.Errorf("%d gateways wrote to the log", n)
	}
	for line := range strings.Lines(string(log)) {
		if !json.Valid([]byte(line)) {
			w.t.Errorf("the log holds a line that is no JSON: %s", line)
		}
	}
	admin, err := os.ReadFile(string(admin.TokenPath(w.state)))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, secret := range append(secrets, string(admin)) {
		if strings.Contains(string(log), strings.TrimSpace(secret)) {
			w.t.Errorf("the log holds the secret %q", secret)
		}
	}
}

func TestTheLogIsAppendedToAndTheUsersAlone(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(filepath.Join(w.state, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logPath(w.state), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var closers []func() error
	for _, name := range []string{"one", "two", "one"} {
		log, closeLog, err := openLog(Settings{StateDir: w.state}, Stdio{Err: os.Stderr})
		if err != nil {
			t.Fatal(err)
		}
		log.Info(name)
		log.Debug("not shown")
		closers = append(closers, closeLog)
	}
	for _, c := range closers {
		if err := c(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(logPath(w.state))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 4 || !strings.HasPrefix(string(text), "{}\n") || strings.Contains(string(text), "not shown") {
		t.Errorf("the log is:\n%s", text)
	}
	if info, err := os.Stat(logPath(w.state)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log has mode %v, %v", info.Mode(), err)
	}
}

// TestWithoutAGatewayTheLedgerIsRead reads a real ledger that a gateway left.
func TestWithoutAGatewayTheLedgerIsRead(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.state, "private", "ledger")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret, err := session.CreateSecret(filepath.Join(w.state, "private", "key"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ledger.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	e, err := l.Start(ledger.StartInput{
		Input: ledger.Input{Scope: "test", Key: "0123456789abcdef", Digest: "d"},
		ID:    turn.NewSessionID(), ClaudeSession: uuid.NewString(), Label: "left", Profile: turn.ReadOnly, Subagent: turn.NoSubagent,
		WorkingDirectory: "/srv/left", Prompt: "hello", LeaseFor: time.Hour, MaxLive: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	id := string(e.Session.ID)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"sessions"}, "left"},
		{[]string{"sessions", "--json"}, `"gateway": null`},
		{[]string{"show", id[4:8]}, "to go on: deckhand serve"},
		{[]string{"log"}, "session.started"},
		{[]string{"recover", id}, secret.RecoveryToken(e.Session.ID, e.Session.Lease.Epoch)},
	} {
		r := w.run(c.args...)
		if r.code != exitOK || !strings.Contains(r.out, c.says) {
			t.Errorf("deckhand %s: %+v, want %q", strings.Join(c.args, " "), r, c.says)
		}
	}
	for _, args := range [][]string{{"stop", id}, {"log", "--follow"}} {
		if r := w.run(args...); r.code != exitNotRunning || r.out != "" || !strings.Contains(r.err, "no gateway is running") {
			t.Errorf("deckhand %s: %+v", strings.Join(args, " "), r)
		}
	}
}

func TestServeSaysWhatKeepsSessionsFromStarting(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "DECKHAND_CLAUDE="+realClaude(t), "DECKHAND_BUBBLEWRAP="+filepath.Join(w.home, "none"),
		"DECKHAND_LISTEN=127.0.0.1:0", "DECKHAND_CONNECTOR_LISTEN=127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &lines{got: make(chan string, 20)}
	done := make(chan result, 1)
	go func() { done <- w.runIn(ctx, out, "serve", "--allow-root") }()
	for {
		select {
		case line := <-out.got:
			if strings.Contains(line, "▲ No session can start") {
				stop()
			}
		case r := <-done:
			if ctx.Err() == nil {
				t.Fatalf("serve ended without a warning: %+v", r)
			}
			return
		}
	}
}

func TestServeSaysWhatToDoAboutATakenAddress(t *testing.T) {
	w := newWorld(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.env = append(w.env, "DECKHAND_CLAUDE="+realClaude(t), "DECKHAND_LISTEN="+taken.Addr().String(), "DECKHAND_CONNECTOR_LISTEN=127.0.0.1:0")
	r := w.run("serve", "--allow-root")
	if r.code != exitFailed || !strings.Contains(r.err, "--listen 127.0.0.1:0") {
		t.Errorf("serve on a taken address: %+v", r)
	}
}
