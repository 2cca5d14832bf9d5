package main

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	// The doctor's self-test starts this very program inside a sandbox.
	if code, ok := stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	// And a gateway under test starts it as its shim, a test as the doctor.
	if len(os.Args) > 1 && (os.Args[1] == "shim" || os.Args[1] == "doctor") {
		os.Exit(program())
	}
	time.Local = time.UTC // what is printed is in the user's time
	os.Exit(m.Run())
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// engine answers as a gateway with fixed sessions would. The program over the
// real engine is tested with the whole binary; here the words are.
type engine struct {
	mu       sync.Mutex
	list     []session.Summary
	states   map[turn.SessionID]session.Snapshot
	events   []turn.Event
	changed  chan struct{}
	reason   string
	warnings []string
	switches turn.Switches
	// menu says whether there is one, greeted whether it was asked to be noticed.
	menu, greeted bool
	local         string
	waiting       []session.Waiting
	written       map[turn.SessionID][]session.Write
	trees         []session.Worktree
	trusts        []session.Trust
	actions       map[turn.SessionID][]session.Action
	// asked are the calls that change something, with their arguments.
	asked []string
}

func (e *engine) Switches(context.Context) (turn.Switches, error) { return e.switches, nil }

func (e *engine) Flip(_ context.Context, which turn.Switch, on bool) (turn.Switches, error) {
	s, err := e.switches.With(which, on)
	e.switches = s
	return s, err
}

func (e *engine) List(context.Context) ([]session.Summary, error) { return e.list, nil }

func (e *engine) Inspect(_ context.Context, id turn.SessionID) (session.Snapshot, error) {
	return e.states[id], nil
}

func (e *engine) Actions(_ context.Context, id turn.SessionID) ([]session.Action, error) {
	return e.actions[id], nil
}

func (e *engine) StopByUser(_ context.Context, id turn.SessionID, reason string) (session.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reason = reason
	s := e.states[id]
	s.Status = turn.Stopped
	return s, nil
}

func (e *engine) RecoveryToken(context.Context, turn.SessionID) (string, error) {
	return "rcv_secret", nil
}

func (e *engine) Events(_ context.Context, after uint64, id turn.SessionID, limit int) ([]turn.Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []turn.Event
	for _, ev := range e.events {
		if ev.Seq > after && (id == "" || ev.Session == id) && len(found) < limit {
			found = append(found, ev)
		}
	}
	return found, nil
}

func (e *engine) WaitEvents(ctx context.Context, after uint64) error {
	for {
		e.mu.Lock()
		newer, changed := uint64(len(e.events)) > after, e.changed
		e.mu.Unlock()
		if newer {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// happen adds an event and wakes whoever waits.
func (e *engine) happen(ev turn.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.Seq = uint64(len(e.events) + 1)
	e.events = append(e.events, ev)
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *engine) Status(context.Context) (admin.Status, error) {
	return admin.Status{Version: version(), PID: 4711, StartedAt: noon.Add(-90 * time.Minute), LocalAddress: e.local,
		ConnectorAddress: "127.0.0.1:7342", Connector: "none", Switches: e.switches, Warnings: e.warnings,
		Sandbox: admin.Sandbox{OK: true, Kind: "bubblewrap"}}, nil
}

func (e *engine) LocalToken() string                { return "local-secret" }
func (e *engine) Greet() bool                       { e.greeted = true; return e.menu }
func (e *engine) Quit()                             { e.ask("quit") }
func (e *engine) RotateLocalToken() (string, error) { return "new-secret", nil }

// world is a state directory, and a gateway's admin socket if one runs.
type world struct {
	t      *testing.T
	home   string
	state  string
	engine *engine
	env    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{t: t, home: home, state: filepath.Join(home, "state"), engine: sampleEngine(home)}
	w.env = []string{"HOME=" + home, "DECKHAND_STATE_DIR=" + w.state}
	if err := os.MkdirAll(filepath.Join(w.state, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// serve starts the admin socket.
func (w *world) serve() *world {
	w.t.Helper()
	secret, err := admin.TokenPath(w.state).Rotate()
	if err != nil {
		w.t.Fatal(err)
	}
	server, err := admin.NewServer(w.engine, w.engine, secret, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	var ln net.Listener
	if ln, err = admin.Listen(w.state); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Serve: %v", err)
		}
	})
	return w
}

// result is what a call of the program left.
type result struct {
	out, err string
	code     int
}

// run calls the program at noon.
func (w *world) run(args ...string) result { return w.runIn(w.t.Context(), nil, args...) }

func (w *world) runIn(ctx context.Context, out *lines, args ...string) result {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	stdio := Stdio{Out: &stdout, Err: &stderr}
	if out != nil {
		stdio.Out = out
	}
	a := &app{stdio: stdio, env: environment(w.env), now: func() time.Time { return noon }}
	code := report(stdio, a.run(ctx, args))
	return result{out: stdout.String(), err: stderr.String(), code: code}
}

// lines is a writer whose lines can be waited for.
type lines struct{ got chan string }

func (l *lines) Write(p []byte) (int, error) {
	l.got <- string(p)
	return len(p), nil
}

// golden compares text with testdata/name; the test's own folder and the
// version of the build read as HOME and VERSION.
func (w *world) golden(name, text string) {
	w.t.Helper()
	text = strings.NewReplacer(w.home, "HOME", version(), "VERSION").Replace(text)
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if text != string(want) {
		w.t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, text, want)
	}
}

const (
	sesShop = "ses_4k2maaaaaaaaaaaaaaaaaaaaaa"
	sesDocs = "ses_4k2mbbbbbbbbbbbbbbbbbbbbbb"
	sesOld  = "ses_zzzzcccccccccccccccccccccc"
	sesLost = "ses_pppppddddddddddddddddddddd"
	sesAsks = "ses_qqqqqeeeeeeeeeeeeeeeeeeeee"
)

func pointer[T any](v T) *T { return &v }

func sampleEngine(home string) *engine {
	e := &engine{changed: make(chan struct{}), local: "127.0.0.1:7341", states: map[turn.SessionID]session.Snapshot{}}
	e.list = []session.Summary{
		{SessionID: sesShop, Label: "shop\x1b[31m tests", Profile: turn.ReadOnly, WorkingDirectory: filepath.Join(home, "src/my_shop"),
			Status: turn.WaitingForGPT, UpdatedAt: noon, LeaseExpiresAt: noon.Add(2*time.Hour - time.Second),
			TurnOpenedAt: noon.Add(-3 * time.Minute)},
		{SessionID: sesDocs, Label: "", Profile: turn.WorktreeWrite, WorkingDirectory: "/srv/docs", SourceDirectory: "/srv/docs",
			Status: turn.Executing, Running: []string{"SearchText", "Read"}, UpdatedAt: noon, LeaseExpiresAt: noon.Add(time.Hour)},
		{SessionID: sesAsks, Label: "prices", Profile: turn.DirectWrite, WorkingDirectory: filepath.Join(home, "src/prices"),
			Status: turn.AwaitingApproval, UpdatedAt: noon, LeaseExpiresAt: noon.Add(time.Hour)},
		{SessionID: sesLost, Label: "lost", Profile: turn.DirectWrite, WorkingDirectory: "/",
			Status: turn.RecoveryRequired, UpdatedAt: noon.Add(-time.Hour), LeaseExpiresAt: noon.Add(30 * time.Second)},
		{SessionID: sesOld, Label: "old", Profile: turn.ReadOnly, WorkingDirectory: "/srv/old",
			Status: turn.Stopped, UpdatedAt: noon.Add(-25 * time.Hour)},
	}
	for _, s := range e.list {
		e.states[s.SessionID] = session.Snapshot{SessionID: s.SessionID, Label: pointer(s.Label), Status: s.Status,
			Profile: s.Profile, WorkingDirectory: s.WorkingDirectory, Workspace: session.Workspace{Kind: "none"}}
	}
	shop := e.states[sesShop]
	shop.LeaseExpiresAt = pointer(noon.Add(2*time.Hour - time.Second))
	shop.ClaudeSessionID = pointer("5e2f4f5e-0000-4000-8000-000000000000")
	shop.CurrentRun = &session.Run{RunID: "run_x", Number: 2, State: "running", StartedAt: noon.Add(-26 * time.Hour), Turns: 3, Actions: 2}
	shop.PendingTurn = &session.PendingTurn{TurnID: "trn_x", Sequence: 3, OpenedAt: noon.Add(-3 * time.Minute),
		Prompt: pointer("Why do the tests fail?\nLook\u202e at the \x1b]0;title\a log.\n" + strings.Repeat("line\n", 20)),
		Results: []session.Result{
			{ActionID: "act_read", Name: "Read", Outcome: turn.OK, Text: "a\nb\n", Bytes: 4, SHA256: "0123456789abcdef0123",
				Receipt: session.ReceiptMark{StartedAt: pointer(noon), FinishedAt: noon.Add(12 * time.Millisecond)}},
			{ActionID: "act_search", Name: "SearchText", Outcome: turn.Error, Text: "protected", Bytes: 70000, SHA256: "fedcba98765432100123",
				Receipt: session.ReceiptMark{Code: pointer(turn.ProtectedPath), FinishedAt: noon}},
			{Name: "FindFiles", Outcome: turn.OutcomeNotExecuted, SHA256: "e3b0c44298fc", Receipt: session.ReceiptMark{FinishedAt: noon}},
		}}
	shop.LastResult = &session.LastResult{RunID: "run_w", Outcome: "completed", Text: "All good.\n", FinishedAt: noon.Add(-time.Hour),
		Changes: &session.Changes{Files: []session.FileChange{{Path: "src/a.go", Added: 3, Removed: 1}}}}
	shop.History = []session.HistoryTurn{
		{RunID: "run_w", Sequence: 1, Prompt: "first\nprompt"},
		{RunID: "run_w", Sequence: 2, Text: "done " + strings.Repeat("and done ", 20), Results: shop.PendingTurn.Results[:1]}}
	shop.HistoryTruncated = true
	e.states[sesShop] = shop
	e.actions = map[turn.SessionID][]session.Action{sesShop: {
		{ActionID: "act_read", Name: "Read", Arguments: `{"file_path":"a\u001b[31m","offset":3}` + "\u202e", Bytes: 40},
		{ActionID: "act_search", Name: "SearchText", Arguments: `{"directory":"/srv","text":"` + strings.Repeat("long ", 40), Bytes: 4096, Truncated: true},
	}}
	lost := e.states[sesLost]
	lost.LaunchError = &session.LaunchError{Code: turn.ShimLost, Message: "the process of the run is gone"}
	e.states[sesLost] = lost
	old := e.states[sesOld]
	old.StopRequest = &session.StopMark{Reason: "enough", By: "user", At: noon.Add(-25 * time.Hour)}
	e.states[sesOld] = old
	sampleWrites(e, home)
	for i, ev := range []turn.Event{
		{At: noon.Add(-24 * time.Hour), Session: sesOld, By: "chatgpt", Kind: "session.started", To: turn.Starting},
		{At: noon.Add(-time.Minute), Session: sesShop, By: "claude", Kind: "turn.opened", From: turn.Running, To: turn.WaitingForGPT, SHA256: "0123456789abcdef0123"},
		{At: noon, Session: sesShop, By: "gateway", Kind: "action.finished", Name: "Read", Outcome: turn.OK, Bytes: 1536},
		{At: noon, Session: sesDocs, By: "gateway", Kind: "action.finished", Name: "Se\x1barch", Outcome: turn.Error, Code: turn.ProtectedPath},
	} {
		ev.Seq = uint64(i + 1)
		e.events = append(e.events, ev)
	}
	return e
}

// noEscapes fails if text would change how a terminal behaves.
func noEscapes(t *testing.T, name, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) || slices.Contains([]rune("\u202e\u2066"), r)
	}); i >= 0 {
		t.Errorf("%s prints a control character: %q", name, text[max(0, i-20):min(len(text), i+20)])
	}
}
