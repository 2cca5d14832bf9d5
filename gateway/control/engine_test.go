package control

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

const localToken = "local-token-for-tests"

// script is an Engine that answers what a test tells it to and remembers what
// it was asked.
type script struct {
	mu    sync.Mutex
	asked []any
	// do answers; nil answers sample().
	do func(ctx context.Context, request any) (session.Snapshot, error)
}

func (e *script) ask(ctx context.Context, request any) (session.Snapshot, error) {
	e.mu.Lock()
	e.asked = append(e.asked, request)
	do := e.do
	e.mu.Unlock()
	if do == nil {
		return sample(), nil
	}
	return do(ctx, request)
}

func (e *script) requests() []any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]any(nil), e.asked...)
}

func (e *script) Start(c context.Context, r session.StartRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}
func (e *script) Continue(c context.Context, r session.ContinueRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}
func (e *script) Recover(c context.Context, r session.RecoverRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}
func (e *script) Reply(c context.Context, r session.ReplyRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}
func (e *script) Status(c context.Context, r session.StatusRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}
func (e *script) Stop(c context.Context, r session.StopRequest) (session.Snapshot, error) {
	return e.ask(c, r)
}

var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// sample is a session that waits for its first reply.
func sample() session.Snapshot {
	lease, claude, prompt := turn.LeaseID("lea_1"), "5b0f7e0a-0000-4000-8000-000000000001", "Look around <here>."
	return session.Snapshot{
		SessionID: "ses_1", ClaudeSessionID: &claude, Status: turn.WaitingForGPT, Revision: 3,
		Route: "chatgpt-main", Fallback: "none", NetworkBoundary: "none",
		Profile: turn.ReadOnly, SubagentPolicy: turn.NoSubagent,
		WorkingDirectory: "/srv/project", SourceDirectory: "/srv/project",
		Workspace: session.Workspace{Kind: "none"},
		LeaseID:   &lease, LeaseExpiresAt: &at, RuntimeAttached: true,
		CurrentRun: &session.Run{RunID: "run_1", Number: 1, State: "waiting", StartedAt: at, Turns: 1, Running: []session.Running{}},
		PendingTurn: &session.PendingTurn{TurnID: "trn_1", Sequence: 1, OpenedAt: at, Prompt: &prompt, Results: []session.Result{},
			Tools: []session.Tool{{Name: "Read", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object"}`)}}},
		Skills: []session.SkillMark{}, DeepSeekSessions: []session.DeepSeekState{},
		Next: "The turn is answered with native_session_reply_and_wait.",
	}
}

// rig is a server over real HTTP.
type rig struct {
	t      *testing.T
	engine *script
	url    string
	host   string
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, engine: &script{}, log: &lockedBuffer{}}
	c := Config{Engine: r.engine, Version: "test", Log: slog.New(slog.NewTextHandler(r.log, nil))}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewUnstartedServer(nil)
	r.host = listener.Listener.Addr().String()
	listener.Config.Handler = s.Handler(Listener{
		Hosts:      []string{r.host, "deckhand.example.org"},
		Origins:    []string{"https://deckhand.example.org"},
		Credential: StaticBearer(sha256.Sum256([]byte(localToken))),
	})
	listener.Start()
	t.Cleanup(listener.Close)
	r.url = listener.URL + Path
	return r
}

// reply is one HTTP answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with the token; change may alter it.
func (r *rig) do(method, body string, change ...func(*http.Request)) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+localToken)
	req.Header.Set("Content-Type", "application/json")
	for _, f := range change {
		f(req)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, strings.TrimSpace(string(b))}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Del(name) }
}

// result is a decoded answer to tools/call.
type result struct {
	Result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// refusal is the text of an isError result.
type refusal struct {
	Error struct {
		Code    turn.Code `json:"code"`
		Message string    `json:"message"`
		Detail  string    `json:"detail"`
		Hint    string    `json:"hint"`
	} `json:"error"`
}

func callBody(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// call makes a legacy tools/call and validates the answer if there is one.
func (r *rig) call(tool, arguments string, change ...func(*http.Request)) result {
	r.t.Helper()
	return r.decode(r.do("POST", callBody(tool, arguments), change...))
}

func (r *rig) decode(got reply) result {
	r.t.Helper()
	var out result
	if err := json.Unmarshal([]byte(got.body), &out); err != nil {
		r.t.Fatalf("%v in %q", err, got.body)
	}
	if got.status != 200 {
		r.t.Fatalf("status %d: %s", got.status, got.body)
	}
	if out.Result.Structured != nil {
		if err := ValidateAnswer(out.Result.Structured); err != nil {
			r.t.Fatal(err)
		}
	}
	return out
}

// refused makes a call that must be refused and returns the refusal.
func (r *rig) refused(tool, arguments string) refusal {
	r.t.Helper()
	got := r.call(tool, arguments)
	if !got.Result.IsError || got.Result.Structured != nil || len(got.Result.Content) != 1 {
		r.t.Fatalf("not a refusal: %+v", got)
	}
	var out refusal
	if err := json.Unmarshal([]byte(got.Result.Content[0].Text), &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}
