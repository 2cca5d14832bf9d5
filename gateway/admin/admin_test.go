package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	if noticed, err := w.client.Greet(ctx); err != nil || !noticed {
		t.Errorf("Greet = %t, %v", noticed, err)
	}
	if s, err := w.client.Flip(ctx, turn.AskSwitch, true); err != nil || s != (turn.Switches{AskBeforeWrite: true}) {
		t.Errorf("Flip = %+v, %v", s, err)
	}
	if s, err := w.client.Switches(ctx); err != nil || s != (turn.Switches{AskBeforeWrite: true}) {
		t.Errorf("Switches = %+v, %v", s, err)
	}
	if _, err := w.client.Flip(ctx, "../token", true); err == nil || !strings.Contains(err.Error(), "no switch") {
		t.Errorf("Flip of a switch that does not exist: %v", err)
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

func TestAnEmptySecretMakesNoServer(t *testing.T) {
	if _, err := NewServer(newEngine(), &surroundings{}, Secret{}, nil); err == nil {
		t.Error("a server without a secret was made")
	}
}
