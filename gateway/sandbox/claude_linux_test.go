package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// claudeBinary is the real Claude Code; make sets the variable.
func claudeBinary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DECKHAND_TEST_CLAUDE")
	if path == "" {
		t.Fatal("DECKHAND_TEST_CLAUDE is not set: run the tests with \"make test\", or set it to a Claude Code binary")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// claudeDirs are the three directories that a run may write in.
func claudeDirs(t *testing.T) (home, tmp, cwd string) {
	t.Helper()
	base := canonicalTempDir(t)
	home, tmp, cwd = filepath.Join(base, "home"), filepath.Join(base, "tmp"), filepath.Join(base, "cwd")
	for _, dir := range []string{home, tmp, cwd} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home, tmp, cwd
}

func TestClaudeCodeTellsItsVersionConfined(t *testing.T) {
	home, tmp, cwd := claudeDirs(t)
	claude := claudeBinary(t)
	out := tempFile(t, "")
	p, err := launcher(t).Start(t.Context(), Policy{ReadOnly: []string{claude}, Writable: []string{home, tmp, cwd}},
		Command{Path: claude, Args: []string{"--version"}, Dir: cwd, Env: []string{"HOME=" + home, "TMPDIR=" + tmp}, Stdout: out, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit != (Exit{}) {
		t.Fatalf("exit %+v: %s", exit, contents(t, out))
	}
	if got := contents(t, out); !strings.Contains(got, "(Claude Code)") {
		t.Fatalf("said %q", got)
	}
}

// A whole run: the prompt on standard input, the model's endpoint on the
// listener that the sandbox handed out, the result line on standard output.
func TestClaudeCodeRunsAgainstTheHandedOutListener(t *testing.T) {
	home, tmp, cwd := claudeDirs(t)
	claude := claudeBinary(t)
	mcp := filepath.Join(cwd, "mcp.json")
	if err := os.WriteFile(mcp, []byte(`{"mcpServers":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = "key-of-the-run"
	out, complaints := tempFile(t, ""), tempFile(t, "")
	p, err := launcher(t).Start(t.Context(), Policy{
		ReadOnly: []string{claude}, Writable: []string{home, tmp, cwd}, Network: PrivateLoopback, Listen: 20001,
	}, Command{
		Path: claude, Dir: cwd, Stdin: tempFile(t, "say ahoy"), Stdout: out, Stderr: complaints,
		Build: func(addr string) (args, env []string) {
			return []string{"--bare", "-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "",
					"--strict-mcp-config", "--mcp-config", mcp, "--tools", "", "--permission-mode", "dontAsk",
					"--model", "chatgpt-main", "--session-id", "6b0f3c1e-54a5-4f38-9d1c-8e7c9d2f4a10"},
				[]string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "config"), "TMPDIR=" + tmp,
					"PATH=" + cwd, "ANTHROPIC_BASE_URL=http://" + addr, "ANTHROPIC_API_KEY=" + key,
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		if r.URL.Path != "/v1/messages" {
			return
		}
		if r.Header.Get("X-Api-Key") != key || !strings.Contains(string(body), "say ahoy") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		sayAhoy(w)
	})}
	var served sync.WaitGroup
	served.Go(func() { server.Serve(p.Listener()) })
	exit := p.Wait()
	server.Close()
	served.Wait()

	if exit != (Exit{}) {
		t.Fatalf("exit %+v, asked %q\n%s\n%s", exit, asked, contents(t, out), contents(t, complaints))
	}
	var result struct {
		Type    string `json:"type"`
		Result  string `json:"result"`
		IsError bool   `json:"is_error"`
	}
	lines := bufio.NewScanner(strings.NewReader(contents(t, out)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &result); err != nil {
			t.Fatal(err)
		}
	}
	if result.Type != "result" || result.Result != "ahoy" || result.IsError {
		t.Fatalf("result %+v, asked %q", result, asked)
	}
}

// sayAhoy streams the smallest answer that the Messages API knows.
func sayAhoy(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range [][2]string{
		{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"chatgpt-main","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`},
		{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ahoy"}}`},
		{"content_block_stop", `{"type":"content_block_stop","index":0}`},
		{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}`},
		{"message_stop", `{"type":"message_stop"}`},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e[0], e[1])
	}
}
