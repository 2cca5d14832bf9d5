package control

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of this package")

const (
	modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"openai-mcp","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	discover   = `{"jsonrpc":"2.0","id":"openai-mcp-discover","method":"server/discover","params":{"_meta":` + modernMeta + `}}`
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"openai-mcp","version":"1.0.0"}}}`
	statusCall = `{"native_session_id":"ses_1","lease_id":"lea_1"}`
)

// step is one request of a transcript.
type step struct {
	why     string
	method  string
	body    string
	headers map[string]string
	host    string
}

// headers that ChatGPT's client sends to a listener with a static token.
func chatGPTHeaders(more ...string) map[string]string {
	h := map[string]string{
		"Authorization": "Bearer " + localToken, "User-Agent": "openai-mcp/1.0.0",
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
	}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// TestChatGPTTranscripts plays what ChatGPT was measured to send, against the
// server over HTTP, and compares every answer with the transcript on disk.
func TestChatGPTTranscripts(t *testing.T) {
	aiohttp := map[string]string{"User-Agent": "Python/3.12 aiohttp/3.9.5"}
	call := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"native_session_status","arguments":` + statusCall + `,"_meta":{"openai/session":"v1/abc","openai/subject":"v1/xyz"}}}`
	modernCall := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"native_session_status","arguments":` + statusCall + `,"_meta":` + modernMeta + `}}`
	for name, c := range map[string]struct {
		refuse bool
		steps  []step
	}{
		"modern": {false, []step{
			{"asks which versions there are", "POST", discover, chatGPTHeaders("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"), ""},
			{"the same through a tunnel that drops the headers", "POST", discover, chatGPTHeaders(), ""},
			{"a call", "POST", modernCall, chatGPTHeaders("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "native_session_status"), ""},
			{"the same call twice", "POST", modernCall, chatGPTHeaders(), ""},
			{"a method that this era removed", "POST", `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":` + modernMeta + `}}`, chatGPTHeaders(), ""},
		}},
		"legacy": {true, []step{
			{"asks which versions there are", "POST", discover, chatGPTHeaders("MCP-Protocol-Version", "2026-07-28"), ""},
			{"falls back", "POST", initialize, chatGPTHeaders(), ""},
			{"and does it twice", "POST", initialize, chatGPTHeaders(), ""},
			{"says it is ready", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, chatGPTHeaders("MCP-Protocol-Version", "2025-11-25"), ""},
			{"a call", "POST", call, chatGPTHeaders("MCP-Protocol-Version", "2025-11-25"), ""},
			{"the same call twice", "POST", call, chatGPTHeaders("MCP-Protocol-Version", "2025-11-25"), ""},
			{"a cancel of an equal id from another client", "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, chatGPTHeaders(), ""},
			{"a ping", "POST", `{"jsonrpc":"2.0","id":5,"method":"ping"}`, chatGPTHeaders(), ""},
		}},
		"first contact": {false, []step{
			{"a call before any handshake", "POST", call, chatGPTHeaders("X-Openai-Session", "v1/abc"), ""},
			{"with an MCP session id that was never given", "POST", call, chatGPTHeaders("Mcp-Session-Id", "gone"), ""},
		}},
		"validation": {false, []step{
			{"an empty POST without a credential", "POST", "", aiohttp, ""},
			{"a GET without a credential", "GET", "", aiohttp, ""},
			{"a GET with one", "GET", "", chatGPTHeaders("Accept", "text/event-stream"), ""},
			{"a DELETE", "DELETE", "", chatGPTHeaders(), ""},
			{"an empty POST", "POST", "", chatGPTHeaders(), ""},
			{"a foreign Host", "POST", discover, chatGPTHeaders(), "evil.example.org"},
			{"the public Host", "POST", discover, chatGPTHeaders("Mcp-Method", "server/discover"), "deckhand.example.org"},
			{"ChatGPT's Origin", "POST", `{"jsonrpc":"2.0","id":5,"method":"ping"}`, chatGPTHeaders("Origin", "https://chatgpt.com"), ""},
			{"a foreign Origin", "POST", `{"jsonrpc":"2.0","id":5,"method":"ping"}`, chatGPTHeaders("Origin", "https://evil.example.org"), ""},
			{"a body one byte over the cap", "POST", strings.Repeat(" ", MaxBody+1), chatGPTHeaders(), ""},
			{"a batch", "POST", "[" + call + "]", chatGPTHeaders(), ""},
			{"an old tool", "POST", strings.Replace(call, "native_session_status", "agent_session_start", 1), chatGPTHeaders(), ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(k *Config) { k.RefuseDiscover = c.refuse })
			var out strings.Builder
			for _, s := range c.steps {
				out.WriteString(r.transcribe(s))
			}
			golden(t, "trace-"+strings.ReplaceAll(name, " ", "-")+".txt", out.String())
		})
	}
}

// transcribe plays a step and writes it down.
func (r *rig) transcribe(s step) string {
	got := r.do(s.method, s.body, func(q *http.Request) {
		q.Header = http.Header{}
		for k, v := range s.headers {
			q.Header.Set(k, v)
		}
		if s.host != "" {
			q.Host = s.host
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n> %s %s\n", s.why, s.method, Path)
	if s.host != "" {
		fmt.Fprintf(&b, "> Host: %s\n", s.host)
	}
	for _, k := range slices.Sorted(maps.Keys(s.headers)) {
		v := s.headers[k]
		if k == "Authorization" {
			v = "Bearer (the token)"
		}
		fmt.Fprintf(&b, "> %s: %s\n", k, v)
	}
	if len(s.body) > 2000 {
		fmt.Fprintf(&b, "> (%d bytes)\n", len(s.body))
	} else if s.body != "" {
		fmt.Fprintf(&b, "> %s\n", s.body)
	}
	fmt.Fprintf(&b, "< %d\n", got.status)
	for _, k := range []string{"Allow", "Content-Type", "Mcp-Session-Id", "Www-Authenticate"} {
		if v := got.header.Get(k); v != "" {
			fmt.Fprintf(&b, "< %s: %s\n", k, v)
		}
	}
	if got.body != "" {
		fmt.Fprintf(&b, "< %s\n", got.body)
	}
	return b.String() + "\n"
}

// golden compares with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update if that is meant.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
