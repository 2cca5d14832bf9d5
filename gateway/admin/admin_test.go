package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"deckhand/gateway/link"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a Backend in memory. The real one is wired in the tests over the
// whole program; here the wire between client and server is what counts.
type engine struct {
	mu      sync.Mutex
	states  map[turn.SessionID]session.Snapshot
	events  []turn.Event
	changed chan struct{}
	// waiting gets a value each time a caller begins to wait.
	waiting chan struct{}
	fault   error
}

func newEngine() *engine {
	label := "shop"
	return &engine{
		changed: make(chan struct{}),
		waiting: make(chan struct{}, 100),
		states: map[turn.SessionID]session.Snapshot{
			"ses_one": {SessionID: "ses_one", Label: &label, Status: turn.Idle, Skills: []session.SkillMark{}},
		},
	}
}

func (e *engine) add(ids ...turn.SessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		e.events = append(e.events, turn.Event{Seq: uint64(len(e.events) + 1), Session: id, Kind: "test"})
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *engine) List(context.Context) ([]session.Summary, error) {
	if e.fault != nil {
		return nil, e.fault
	}
	return []session.Summary{{SessionID: "ses_one", Label: "shop", Status: turn.Idle}}, nil
}

func (e *engine) Inspect(_ context.Context, id turn.SessionID) (session.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.states[id]
	if !ok {
		return s, turn.Refuse(turn.UnknownSession, "no session %s", id)
	}
	return s, nil
}

func (e *engine) StopByUser(ctx context.Context, id turn.SessionID, reason string) (session.Snapshot, error) {
	s, err := e.Inspect(ctx, id)
	if err != nil {
		return s, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Status, s.StopRequest = turn.Stopped, &session.StopMark{Reason: reason, By: "user"}
	e.states[id] = s
	return s, nil
}

func (e *engine) RecoveryToken(_ context.Context, id turn.SessionID) (string, error) {
	return "token of " + string(id), nil
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
		e.waiting <- struct{}{}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type surroundings struct {
	mu    sync.Mutex
	token string
}

func (g *surroundings) Status(context.Context) (Status, error) {
	return Status{Version: "0.1.0", PID: 42, LocalAddress: "127.0.0.1:7341", Connector: "none",
		Warnings: []string{"w"}, Sandbox: Sandbox{OK: true, Kind: "bubblewrap"}}, nil
}

func (g *surroundings) LocalToken() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.token
}

func (g *surroundings) RotateLocalToken() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.token += "+"
	return g.token, nil
}

// world is a gateway's admin socket and a client of it.
type world struct {
	state  string
	engine *engine
	log    *bytes.Buffer
	client *Client
	stop   func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{state: t.TempDir(), engine: newEngine(), log: &bytes.Buffer{}}
	if err := os.Mkdir(filepath.Join(w.state, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	secret, err := TokenPath(w.state).Rotate()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := NewServer(w.engine, &surroundings{token: "local-secret"}, secret, log)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := Listen(w.state)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(w.stop)
	if w.client, err = NewClient(w.state); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestEachCallReachesTheEngineAndComesBackWhole(t *testing.T) {
	w, ctx := newWorld(t), t.Context()

	status, err := w.client.Status(ctx)
	want, _ := (&surroundings{}).Status(ctx)
	if diff := cmp.Diff(want, status); err != nil || diff != "" {
		t.Errorf("Status: %v\n%s", err, diff)
	}
	list, err := w.client.List(ctx)
	if err != nil || len(list) != 1 || list[0].SessionID != "ses_one" {
		t.Errorf("List = %v, %v", list, err)
	}
	snapshot, err := w.client.Inspect(ctx, "ses_one")
	if diff := cmp.Diff(w.engine.states["ses_one"], snapshot); err != nil || diff != "" {
		t.Errorf("Inspect: %v\n%s", err, diff)
	}
	snapshot, err = w.client.Stop(ctx, "ses_one", "enough\nfor today")
	if err != nil || snapshot.Status != turn.Stopped || snapshot.StopRequest.Reason != "enough\nfor today" {
		t.Errorf("Stop = %v, %v", snapshot, err)
	}
	if token, err := w.client.RecoveryToken(ctx, "ses_one"); err != nil || token != "token of ses_one" {
		t.Errorf("RecoveryToken = %q, %v", token, err)
	}
	if token, err := w.client.Token(ctx); err != nil || token != "local-secret" {
		t.Errorf("Token = %q, %v", token, err)
	}
	if token, err := w.client.RotateToken(ctx); err != nil || token != "local-secret+" {
		t.Errorf("RotateToken = %q, %v", token, err)
	}
	if token, err := w.client.Token(ctx); err != nil || token != "local-secret+" {
		t.Errorf("Token after the rotation = %q, %v", token, err)
	}
	w.stop()
	for _, secret := range []string{"local-secret", "token of", w.client.secret.Reveal()} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, w.log)
		}
	}
}

func TestARefusalKeepsItsCodeAndDetail(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.Inspect(t.Context(), "ses_none")
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok || refusal.Code != turn.UnknownSession || refusal.Detail != "no session ses_none" {
		t.Errorf("Inspect of an unknown session: %v", err)
	}
	// An id that looks like a path stays one id.
	_, err = w.client.Inspect(t.Context(), "../token")
	if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Detail != "no session ../token" {
		t.Errorf("Inspect of a path: %v", err)
	}
}

func TestAFaultIsLoggedAndNotToldToTheCaller(t *testing.T) {
	w := newWorld(t)
	w.engine.fault = errors.New("read /secret/place: broken")
	_, err := w.client.List(t.Context())
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok || refusal.Code != turn.InternalError || strings.Contains(err.Error(), "/secret/place") {
		t.Errorf("List with a broken engine: %v", err)
	}
	w.stop()
	if !strings.Contains(w.log.String(), "/secret/place") {
		t.Errorf("the log does not say what broke:\n%s", w.log)
	}
}

// raw sends one request as it is given, over the socket, and returns the
// status and body of the answer.
func raw(t *testing.T, w *world, method, path, authorization, body string) (int, string) {
	t.Helper()
	conn, err := net.Dial("unix", SocketPath(w.state))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
	req, err := http.NewRequest(method, "http://admin"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestWithoutTheTokenNothingIsAnsweredOrChanged(t *testing.T) {
	w := newWorld(t)
	good := w.client.secret.Reveal()
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer " + good + "x", "Bearer " + good[1:],
		"bearer " + good, "Basic " + good, good} {
		for _, path := range []string{"/v1/sessions/ses_one/stop", "/v1/token/rotate", "/v1/nothing"} {
			if code, body := raw(t, w, "POST", path, authorization, `{}`); code != http.StatusUnauthorized ||
				strings.Contains(body, "local-secret") {
				t.Errorf("POST %s with %q = %d %s", path, authorization, code, body)
			}
		}
	}
	if got := w.engine.states["ses_one"].Status; got != turn.Idle {
		t.Errorf("a refused stop left the session %s", got)
	}
	if token, err := w.client.Token(t.Context()); err != nil || token != "local-secret" {
		t.Errorf("a refused rotation left the token %q, %v", token, err)
	}
	// The secret was replaced behind the gateway's back.
	if _, err := TokenPath(w.state).Rotate(); err != nil {
		t.Fatal(err)
	}
	stranger, err := NewClient(w.state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.List(t.Context()); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("List with another token: %v", err)
	}
}

func TestBadInputChangesNothing(t *testing.T) {
	w := newWorld(t)
	good := "Bearer " + w.client.secret.Reveal()
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		want                     turn.Code
	}{
		{"unknown field", "POST", "/v1/sessions/ses_one/stop", `{"reason":"x","force":true}`, 400, turn.InvalidArguments},
		{"wrong type", "POST", "/v1/sessions/ses_one/stop", `{"reason":1}`, 400, turn.InvalidArguments},
		{"no body", "POST", "/v1/sessions/ses_one/stop", ``, 400, turn.InvalidArguments},
		{"two bodies", "POST", "/v1/sessions/ses_one/stop", `{"reason":"x"}{}`, 400, turn.InvalidArguments},
		{"long reason", "POST", "/v1/sessions/ses_one/stop", `{"reason":"` + strings.Repeat("x", turn.MaxReason+1) + `"}`, 400, turn.InvalidArguments},
		{"huge body", "POST", "/v1/sessions/ses_one/stop", `{"reason":"` + strings.Repeat("x", maxBody) + `"}`, 413, turn.TooLarge},
		{"negative number", "GET", "/v1/events?after=-1", ``, 400, turn.InvalidArguments},
		{"limit of nothing", "GET", "/v1/events?wait=1&limit=0", ``, 400, turn.InvalidArguments},
		{"limit too high", "GET", "/v1/events?limit=1001", ``, 400, turn.InvalidArguments},
	} {
		code, body := raw(t, w, c.method, c.path, good, c.body)
		var answer errorAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil || code != c.code || answer.Error.Code != c.want {
			t.Errorf("%s: %d %s, want %d %s", c.name, code, body, c.code, c.want)
		}
	}
	if code, _ := raw(t, w, "GET", "/v1/sessions/ses_one/stop", good, ""); code != http.StatusMethodNotAllowed {
		t.Errorf("a GET of what changes something = %d", code)
	}
	if got := w.engine.states["ses_one"].Status; got != turn.Idle {
		t.Errorf("bad input left the session %s", got)
	}
}

func TestEventsComeInPagesAndBySession(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.engine.add("ses_one", "ses_two", "ses_one", "ses_two")
	seqs := func(events []turn.Event) string {
		var n []uint64
		for _, e := range events {
			n = append(n, e.Seq)
		}
		return fmt.Sprint(n)
	}
	events, err := w.client.Events(ctx, 0, "", 3)
	if err != nil || seqs(events) != "[1 2 3]" {
		t.Errorf("first page = %s, %v", seqs(events), err)
	}
	events, err = w.client.Events(ctx, 3, "", 3)
	if err != nil || seqs(events) != "[4]" {
		t.Errorf("second page = %s, %v", seqs(events), err)
	}
	events, err = w.client.Events(ctx, 0, "ses_two", 10)
	if err != nil || seqs(events) != "[2 4]" {
		t.Errorf("events of one session = %s, %v", seqs(events), err)
	}
	events, err = w.client.Events(ctx, 4, "", 10)
	if err != nil || len(events) != 0 {
		t.Errorf("events after the last = %s, %v", seqs(events), err)
	}
}

func TestWaitingPassesOverOtherSessionsAndWakesForItsOwn(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.engine.add("ses_two", "ses_two")
	type result struct {
		events []turn.Event
		next   uint64
		err    error
	}
	got := make(chan result, 1)
	go func() {
		events, next, err := w.client.NextEvents(ctx, 0, "ses_one")
		got <- result{events, next, err}
	}()
	for _, ids := range [][]turn.SessionID{{"ses_two"}, {"ses_one", "ses_two"}} {
		select {
		case <-w.engine.waiting:
		case r := <-got:
			t.Fatalf("NextEvents came back without waiting: %v, %d, %v", r.events, r.next, r.err)
		}
		w.engine.add(ids...)
	}
	r := <-got
	if r.err != nil || len(r.events) != 1 || r.events[0].Seq != 4 || r.next < 4 {
		t.Errorf("NextEvents = %v, %d, %v; want event 4", r.events, r.next, r.err)
	}
}

func TestTheEndOfTheGatewayEndsAWaitingCall(t *testing.T) {
	w := newWorld(t)
	got := make(chan error, 1)
	go func() {
		_, _, err := w.client.NextEvents(context.Background(), 0, "")
		got <- err
	}()
	<-w.engine.waiting
	w.stop()
	err := <-got
	if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Code != turn.ShuttingDown {
		t.Errorf("NextEvents at the end of the gateway: %v", err)
	}
}

func TestWithoutAGatewayAClientSaysSo(t *testing.T) {
	if _, err := NewClient(t.TempDir()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("NewClient in an empty state directory: %v", err)
	}
	w := newWorld(t)
	w.stop()
	if _, err := w.client.List(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("List after the gateway ended: %v", err)
	}
}

func TestAnUnknownCallAsksForARestart(t *testing.T) {
	w := newWorld(t)
	if _, err := call[Status](t.Context(), w.client, "GET", "/v1/future", nil); !errors.Is(err, ErrTooOld) {
		t.Errorf("a call that the gateway does not know: %v", err)
	}
}

func TestOnlyTheUserCanOpenTheSocket(t *testing.T) {
	w := newWorld(t)
	if _, err := Listen(w.state); !errors.Is(err, link.ErrInUse) {
		t.Errorf("a second gateway took the socket: %v", err)
	}
	info, err := os.Stat(SocketPath(w.state))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %04o", info.Mode().Perm())
	}
}

func TestASecretIsNeverPrinted(t *testing.T) {
	s := NewSecret("hush")
	encoded, err := json.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v %#v %s %q", s, s, s, s), string(encoded), log.String()} {
		if strings.Contains(text, "hush") {
			t.Errorf("the secret shows in %s", text)
		}
	}
	if s.Equal("") || s.Equal("hushhush") || (Secret{}).Equal("") || !s.Equal("hush") {
		t.Error("Equal is wrong")
	}
}

func TestATokenFileThatIsNotOursAloneIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := SecretFile(filepath.Join(dir, "token"))
	made, err := file.LoadOrCreate()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := file.LoadOrCreate(); err != nil || again != made {
		t.Errorf("LoadOrCreate made another token: %v", err)
	}
	if info, err := os.Stat(string(file)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file has mode %v, %v", info.Mode(), err)
	}
	rotated, err := file.Rotate()
	if err != nil || rotated == made || len(rotated.Reveal()) < 26 {
		t.Errorf("Rotate kept the token or made a short one: %v", err)
	}

	link := SecretFile(filepath.Join(dir, "link"))
	if err := os.Symlink(string(file), string(link)); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Read(); err == nil {
		t.Error("a symlink was followed")
	}
	if _, err := SecretFile(dir).Read(); err == nil {
		t.Error("a directory was read")
	}
	empty := SecretFile(filepath.Join(dir, "empty"))
	if err := os.WriteFile(string(empty), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Read(); err == nil {
		t.Error("an empty token was accepted")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(string(file), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := file.LoadOrCreate(); err == nil {
			t.Errorf("a token file of mode %04o was accepted", mode)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".tmp") }) {
		t.Errorf("a temporary file is left: %v", entries)
	}
}

func TestAnEmptySecretMakesNoServer(t *testing.T) {
	if _, err := NewServer(newEngine(), &surroundings{}, Secret{}, nil); err == nil {
		t.Error("a server without a secret was made")
	}
}
