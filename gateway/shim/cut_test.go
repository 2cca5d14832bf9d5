package shim_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"deckhand/gateway/bridge"
	"deckhand/gateway/link"
	"deckhand/gateway/runner"
)

// A connection that breaks before anything was answered makes Claude Code ask
// again with the same bytes. The sandbox leaves nobody who could break it, so
// this one Claude Code runs in front of it.
func TestConnectionLostBeforeTheAnswerIsTheSameTurn(t *testing.T) {
	const cuts = 3
	var mu sync.Mutex
	var bodies []string
	var offers []link.Offer
	enough := make(chan struct{})

	var inner http.Handler
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			raw, _ := io.ReadAll(r.Body)
			mu.Lock()
			bodies = append(bodies, string(raw))
			n := len(bodies)
			mu.Unlock()
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			if n <= cuts {
				// The bridge answers with the beginning of a stream, which is lost.
				ctx, cancel := context.WithCancel(r.Context())
				inner.ServeHTTP(&lostAnswer{header: http.Header{}, lost: cancel}, r.WithContext(ctx))
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					conn.Close()
				}
				return
			}
			if n == cuts+1 {
				close(enough)
			}
		}
		inner.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	plan := runner.Plan{Home: dir + "/home", Spec: runner.Spec{Token: "t", ClaudeSession: uuid.NewString(), Prompt: "Look.",
		Tools: []runner.Tool{{Name: "Read", InputSchema: json.RawMessage(`{"type":"object"}`)}}}}
	br, err := bridge.New(bridge.Config{Run: "run_1", Token: plan.PortToken(), Host: address.Host, Name: runner.ToolServer, Model: runner.Model, Prompt: plan.Stdin(),
		Tools: []bridge.Tool{{Name: "Read", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Offer: func(_ context.Context, o link.Offer) (link.Release, error) {
			mu.Lock()
			offers = append(offers, o)
			mu.Unlock()
			<-enough
			return link.Release{Turn: "trn_1", Text: "Done."}, nil
		},
		Call: func(context.Context, link.Call) (link.CallResult, error) { return link.CallResult{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer br.Close()
	inner = br

	// What Prepare would make.
	for _, name := range []string{"/home/home", "/home/config", "/home/tmp", "/path"} {
		if err := os.MkdirAll(dir+name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const servers = `{"mcpServers":{"deckhand":{"type":"http","url":"${ANTHROPIC_BASE_URL}/mcp","headers":{"Authorization":"Bearer ${ANTHROPIC_API_KEY}"}}}}`
	if err := os.WriteFile(dir+"/mcp.json", []byte(servers), 0o600); err != nil {
		t.Fatal(err)
	}
	args, env := runner.Command(plan, runner.Dir(dir), address.Host)
	cmd := exec.CommandContext(t.Context(), realClaude(t), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, dir, strings.NewReader(plan.Stdin())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(offers) != 1 || len(bodies) != cuts+1 || !strings.Contains(string(out), "Done.") {
		t.Errorf("%d offers for %d requests: %s", len(offers), len(bodies), out)
	}
	for _, b := range bodies {
		if b != bodies[0] || !strings.Contains(b, `"stream":true`) {
			t.Errorf("bodies differ:\n%s\n%s", b, bodies[0])
		}
	}
}

// lostAnswer swallows an answer and gives up once something of it was there.
type lostAnswer struct {
	header http.Header
	lost   func()
}

func (l *lostAnswer) Header() http.Header         { return l.header }
func (l *lostAnswer) WriteHeader(int)             {}
func (l *lostAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (l *lostAnswer) Flush()                      { l.lost() }
