package link

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"deckhand/gateway/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a backend made of functions; what is not set must not be called.
type scripted struct {
	auth  func(turn.RunID, string) error
	hello func(context.Context, Hello) (Directive, error)
	watch func(context.Context, Watch) (Directive, error)
	offer func(context.Context, Offer) (Release, error)
	call  func(context.Context, Call) (CallResult, error)
	exit  func(context.Context, Exit) error
}

func (s *scripted) Authenticate(run turn.RunID, token string) error {
	if s.auth != nil {
		return s.auth(run, token)
	}
	if run != "run_1" || token != "secret" {
		return turn.Refuse(Unauthorized, "")
	}
	return nil
}
func (s *scripted) Hello(ctx context.Context, h Hello) (Directive, error) { return s.hello(ctx, h) }
func (s *scripted) Watch(ctx context.Context, w Watch) (Directive, error) { return s.watch(ctx, w) }
func (s *scripted) Offer(ctx context.Context, o Offer) (Release, error)   { return s.offer(ctx, o) }
func (s *scripted) Call(ctx context.Context, c Call) (CallResult, error)  { return s.call(ctx, c) }
func (s *scripted) Exit(ctx context.Context, e Exit) error                { return s.exit(ctx, e) }

func handle(s *scripted, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("Deckhand-Run", "run_1")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler(s, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	return w
}

func TestWaitingIsAnsweredWithNotYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &scripted{offer: func(ctx context.Context, _ Offer) (Release, error) {
			<-ctx.Done()
			if cause := context.Cause(ctx); cause != ErrNotYet {
				t.Errorf("cause: %v", cause)
			}
			return Release{}, ctx.Err()
		}}
		w := handle(s, "/link/offer", `{"run":"run_1","digest":"d","tail":"prompt"}`)
		if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if held := time.Since(start); held != PollTimeout {
			t.Errorf("held for %v", held)
		}
	})
}

func TestAnswerAtTheLastMomentIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{call: func(ctx context.Context, _ Call) (CallResult, error) {
			<-ctx.Done()
			return CallResult{Text: "there"}, nil
		}}
		w := handle(s, "/link/call", `{"run":"run_1","tool_use_id":"toolu_1","name":"Read","arguments":{"a":1.0}}`)
		if w.Code != http.StatusOK || w.Body.String() != `{"text":"there","is_error":false}` {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestRefusalsTravelWithTheirCode(t *testing.T) {
	for _, c := range []struct {
		err     error
		status  int
		code    turn.Code
		mustEnd bool
	}{
		{turn.Refuse(RunSettled, "over"), http.StatusGone, RunSettled, true},
		{turn.Refuse(Unauthorized, ""), http.StatusUnauthorized, Unauthorized, true},
		{turn.Refuse(UnsupportedProtocol, ""), http.StatusUpgradeRequired, UnsupportedProtocol, true},
		{turn.Refuse(turn.UnexpectedModelRequest, ""), http.StatusConflict, turn.UnexpectedModelRequest, false},
		{turn.RefuseFor(turn.CallMismatch, errors.New("private"), "public"), http.StatusConflict, turn.CallMismatch, false},
		{errors.New("private"), http.StatusInternalServerError, "", false},
		{turn.Refuse(turn.InternalError, "private"), http.StatusInternalServerError, "", false},
	} {
		s := &scripted{offer: func(context.Context, Offer) (Release, error) { return Release{}, c.err }}
		w := handle(s, "/link/offer", `{"run":"run_1","digest":"d","tail":"prompt"}`)
		var got wireRefusal
		if w.Body.Len() > 0 {
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
		}
		if w.Code != c.status || got.Code != c.code || strings.Contains(w.Body.String(), "private") {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
		if MustEnd(c.err) != c.mustEnd {
			t.Errorf("must end after %v: %v", c.err, !c.mustEnd)
		}
	}
}

func TestRequestsAreCheckedBeforeTheBackendSeesThem(t *testing.T) {
	s := &scripted{exit: func(context.Context, Exit) error { return nil }}
	const good = `{"run":"run_1","code":0,"ended":false,"result":true,"is_error":false,"offers":1,"finished_at":"2026-01-02T03:04:05Z"}`
	if w := handle(s, "/link/exit", good); w.Code != http.StatusOK {
		t.Fatalf("good request: %d %s", w.Code, w.Body)
	}
	s.exit = nil
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"no token":       {good, []string{"Authorization", ""}, 401},
		"wrong token":    {good, []string{"Authorization", "Bearer other"}, 401},
		"no run":         {good, []string{"Deckhand-Run", ""}, 401},
		"another run":    {strings.Replace(good, "run_1", "run_2", 1), nil, 400},
		"unknown member": {strings.Replace(good, `{`, `{"x":1,`, 1), nil, 400},
		"member twice":   {strings.Replace(good, `{`, `{"code":1,`, 1), nil, 400},
		"two values":     {good + good, nil, 400},
		"invalid UTF-8":  {strings.Replace(good, "run_1", "run_\xff", 1), nil, 400},
		"wrong type":     {strings.Replace(good, `"code":0`, `"code":"0"`, 1), nil, 400},
		"too large":      {strings.Repeat(" ", maxBody) + good, nil, 413},
	} {
		if w := handle(s, "/link/exit", c.body, c.header...); w.Code != c.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/link/exit", nil)
	w := httptest.NewRecorder()
	Handler(s, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestProtocolVersions(t *testing.T) {
	s := &scripted{hello: func(context.Context, Hello) (Directive, error) { return Directive{}, nil }}
	for protocol, status := range map[string]int{"0": 426, "1": 200, "2": 426, "-1": 426} {
		if w := handle(s, "/link/hello", `{"protocol":`+protocol+`,"run":"run_1"}`); w.Code != status {
			t.Errorf("protocol %s: %d %s", protocol, w.Code, w.Body)
		}
	}
}
