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
	"time"

	"github.com/google/uuid"

	"deckhand/gateway/bridge"
	"deckhand/gateway/link"
	"deckhand/gateway/runner"
)

// The sandbox leaves nobody who could break a connection, so in these tests
// Claude Code runs in front of it, behind a proxy that can.

func TestLostRequestIsAskedAgainAndIsTheSameTurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		cuts   int
		reach  bool // the beginning of the answer reaches Claude Code
		clean  bool // the connection is not broken, the answer just ends
		repeat string
	}{
		{"before the answer", 3, false, false, `"stream":true`},
		{"broken in the middle", 1, true, false, `"stream":true`},
		{"ended in the middle", 1, true, true, `"stream":false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runCut(t, c.cuts, c.reach, c.clean)
			if len(got.offers) != 1 || len(got.bodies) != c.cuts+1 || !strings.Contains(got.output, "Done.") {
				t.Errorf("%d offers for %d requests: %s", len(got.offers), len(got.bodies), got.output)
			}
			for _, b := range got.bodies[1:] {
				if b != strings.Replace(got.bodies[0], `"stream":true`, c.repeat, 1) {
					t.Errorf("bodies differ:\n%s\n%s", b, got.bodies[0])
				}
			}
		})
	}
}

// cut is a run whose first model requests were cut off.
type cut struct {
	mu     sync.Mutex
	bodies []string
	offers []link.Offer
	output string
}

// runCut cuts a number of model requests. The one after them is answered once
// it has been kept waiting for some signs of life.
func runCut(t *testing.T, cuts int, reach, clean bool) *cut {
	c := new(cut)
	enough := make(chan struct{})
	var inner http.Handler
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			raw, _ := io.ReadAll(r.Body)
			c.mu.Lock()
			c.bodies = append(c.bodies, string(raw))
			n := len(c.bodies)
			c.mu.Unlock()
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			if n <= cuts {
				ctx, cancel := context.WithCancel(r.Context())
				lost := &lostAnswer{header: http.Header{}, lost: cancel}
				if reach {
					lost.reaches = w
				}
				inner.ServeHTTP(lost, r.WithContext(ctx))
				if clean {
					return
				}
				panic(http.ErrAbortHandler)
			}
			time.AfterFunc(200*time.Millisecond, func() { close(enough) })
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	plan := runner.Plan{Spec: runner.Spec{Token: "t", ClaudeSession: uuid.NewString(), Prompt: "Look.",
		Tools: []runner.Tool{{Name: "Read", InputSchema: json.RawMessage(`{"type":"object"}`)}}}}
	br, err := bridge.New(bridge.Config{Run: "run_1", Token: plan.PortToken(), Host: address.Host, Name: runner.ToolServer,
		Model: runner.Model, Prompt: plan.Stdin(), PingInterval: 20 * time.Millisecond,
		Tools: []bridge.Tool{{Name: "Read", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Offer: func(_ context.Context, o link.Offer) (link.Release, error) {
			c.mu.Lock()
			c.offers = append(c.offers, o)
			c.mu.Unlock()
			<-enough
			return link.Release{Turn: "trn_1", Text: "Done."}, nil
		},
		Call: func(context.Context, link.Call) (link.CallResult, error) { return link.CallResult{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(br.Close)
	inner = br

	// What Prepare would make.
	dir := t.TempDir()
	plan.Home = dir + "/home"
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
	c.output = string(out)
	return c
}

// lostAnswer gives up as soon as something of an answer is there. What there
// is reaches the client, or nobody.
type lostAnswer struct {
	header  http.Header
	reaches http.ResponseWriter // or nil
	lost    func()
}

func (l *lostAnswer) Header() http.Header {
	if l.reaches != nil {
		return l.reaches.Header()
	}
	return l.header
}

func (l *lostAnswer) WriteHeader(status int) {
	if l.reaches != nil {
		l.reaches.WriteHeader(status)
	}
}

func (l *lostAnswer) Write(p []byte) (int, error) {
	if l.reaches != nil {
		return l.reaches.Write(p)
	}
	return len(p), nil
}

func (l *lostAnswer) Flush() {
	if l.reaches != nil {
		http.NewResponseController(l.reaches).Flush()
		time.Sleep(100 * time.Millisecond) // so that it is read before the end comes
	}
	l.lost()
}
