package chatgpt

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// serve answers each method with a body; "" is 202 without one. What came is
// kept in order.
func serve(t *testing.T, answers map[string]string) (url string, came *[]string) {
	t.Helper()
	came = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta map[string]any `json:"_meta"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		*came = append(*came, body.Method+" "+r.Header.Get("MCP-Protocol-Version")+" "+r.Header.Get("Mcp-Method")+" "+r.Header.Get("Mcp-Name"))
		if body.ID != nil && (body.Params.Meta["openai/session"] != "v1/chat" || r.Header.Get("Authorization") != "Bearer token") {
			t.Errorf("%s does not say whose it is: %v", body.Method, body.Params.Meta)
		}
		answer := answers[body.Method]
		if answer == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(answer, "event:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		fmt.Fprintf(w, answer, body.ID)
	}))
	t.Cleanup(server.Close)
	return server.URL, came
}

func connect(t *testing.T, url string) (*Client, error) {
	t.Helper()
	return Connect(t.Context(), Options{URL: url, Token: "token", Conversation: "v1/chat"})
}

const (
	discoverBoth = `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28","2025-11-25"]}}`
	unknown      = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`
	initialized  = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"x"}}}`
	refusedCall  = `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":"{\"error\":{\"code\":\"capacity\",\"message\":\"M.\",\"hint\":\"H.\"}}"}]}}`
)

func TestTheNewEraNeedsNoInitialize(t *testing.T) {
	url, came := serve(t, map[string]string{"server/discover": discoverBoth, "tools/call": refusedCall})
	c, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), ToolStatus, map[string]any{}); CodeOf(err) != "capacity" {
		t.Errorf("the refusal was read as %v", err)
	}
	want := []string{"server/discover 2026-07-28 server/discover ", "tools/call 2026-07-28 tools/call " + ToolStatus}
	if !slices.Equal(*came, want) {
		t.Errorf("the server saw %q, want %q", *came, want)
	}
}

func TestAServerThatDoesNotKnowDiscoverIsInitialized(t *testing.T) {
	url, came := serve(t, map[string]string{"server/discover": unknown, "initialize": initialized})
	c, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if c.Version() != Initialized {
		t.Errorf("both agreed on %s", c.Version())
	}
	want := []string{"server/discover 2026-07-28 server/discover ", "initialize   ", "notifications/initialized 2025-11-25  ",
		"initialize   ", "notifications/initialized 2025-11-25  "}
	if !slices.Equal(*came, want) {
		t.Errorf("the server saw %q, want %q", *came, want)
	}
}

// TestAnEventStreamIsAFault: ChatGPT was seen to fail on it.
func TestAnEventStreamIsAFault(t *testing.T) {
	url, _ := serve(t, map[string]string{"server/discover": "event: message\ndata: {\"id\":%s}\n\n"})
	if _, err := connect(t, url); err == nil || !strings.Contains(err.Error(), "not as JSON") {
		t.Errorf("an event stream was answered with %v", err)
	}
}

func TestWhatIsNoJSONRPCIsAnHTTPError(t *testing.T) {
	url, _ := serve(t, map[string]string{"server/discover": `{"oops":%s}`})
	_, err := connect(t, url)
	if _, ok := errors.AsType[*HTTPError](err); !ok {
		t.Errorf("it was read as %v", err)
	}
}

// TestASessionFollowsLeaseAndToken: a recover replaces both.
func TestASessionFollowsLeaseAndToken(t *testing.T) {
	url, _ := serve(t, map[string]string{"server/discover": discoverBoth,
		"tools/call": `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"native_session_id":"s","lease_id":"l2","recovery_token":"t2","status":"idle"}}}`})
	c, err := connect(t, url)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Join("s", "l1", "t1")
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Lease != "l2" || s.Token != "t2" {
		t.Errorf("the session has lease %s and token %s", s.Lease, s.Token)
	}
	if _, err := c.Join("other", "l1", "t1").Status(t.Context(), 0); err == nil {
		t.Error("an answer about another session was taken")
	}
}
