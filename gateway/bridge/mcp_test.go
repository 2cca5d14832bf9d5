package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

func TestToolServerTranscript(t *testing.T) {
	s := serve(t, time.Hour)
	for _, c := range []struct{ request, answer string }{
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"deckhand","version":"1"}}}`},
		{`{"jsonrpc":"2.0","id":"d","method":"server/discover"}`, `{"jsonrpc":"2.0","id":"d","error":{"code":-32601,"message":"method not found"}}`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, ``},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"result":{"tools":[` +
			`{"name":"Read","description":"Reads.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/maxResultSizeChars":500000}},` +
			`{"name":"Write","description":"Writes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false},"_meta":{"anthropic/maxResultSizeChars":500000}}]}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"method not found"}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"Bash","_meta":{"claudecode/toolUseId":"toolu_1"}}}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"no such tool"}}`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"Read","arguments":{}}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"call without the id of its tool_use block"}}`},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"parameters cannot be read"}}`},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request"}}`},
		{`[{"jsonrpc":"2.0","id":8,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message cannot be read"}}`},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/list"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message cannot be read"}}`},
	} {
		if got := body(t, s.post("/mcp", c.request)); got != c.answer {
			t.Errorf("%s\n got %s\nwant %s", c.request, got, c.answer)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		req, _ := http.NewRequest(method, s.url+"/mcp", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %v %v", method, resp, err)
		}
		resp.Body.Close()
	}
}

func TestCallIsKeptAliveUntilItsResult(t *testing.T) {
	s := serve(t, 5*time.Millisecond)
	var got link.Call
	s.call = func(_ context.Context, c link.Call) (link.CallResult, error) {
		got = c
		time.Sleep(50 * time.Millisecond)
		return link.CallResult{Text: "line 1\nline 2 <&>", IsError: true}, nil
	}
	const arguments = `{ "file_path":"/a", "n":12345678901234567890, "f":1.0 }`
	resp := s.post("/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Read","arguments":`+arguments+`,"_meta":{"claudecode/toolUseId":"toolu_9","progressToken":2}}}`)
	answer := body(t, resp)
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("content type %q", kind)
	}
	if n := strings.Count(answer, ": wait\n\n"); n < 2 {
		t.Errorf("%d signs of life in %s", n, answer)
	}
	events := strings.ReplaceAll(answer, ": wait\n\n", "")
	data, ok := strings.CutPrefix(events, "event: message\ndata: ")
	var message struct {
		ID     int
		Result struct {
			Content []textContent
			IsError bool
		}
	}
	if err := json.Unmarshal([]byte(data), &message); !ok || err != nil || message.ID != 7 || !message.Result.IsError ||
		fmt.Sprint(message.Result.Content) != "[{text line 1\nline 2 <&>}]" {
		t.Errorf("answer: %s", events)
	}
	if got.Run != "run_1" || got.ToolUseID != "toolu_9" || got.Name != "Read" || string(got.Arguments) != arguments {
		t.Errorf("call: %+v %s", got, got.Arguments)
	}
}

func TestRefusedCallIsAnErrorResult(t *testing.T) {
	s := serve(t, time.Hour)
	s.call = func(context.Context, link.Call) (link.CallResult, error) {
		return link.CallResult{}, turn.RefuseFor(turn.CallMismatch, fmt.Errorf("private"), "the arguments differ")
	}
	got := body(t, s.post("/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Read","_meta":{"claudecode/toolUseId":"toolu_9"}}}`))
	if !strings.Contains(got, `"text":"call_mismatch: the arguments differ"`) || !strings.Contains(got, `"isError":true`) || strings.Contains(got, "private") {
		t.Errorf("answer: %s", got)
	}
}

func TestClientThatGoesAwayEndsTheWaitForItsCall(t *testing.T) {
	s := serve(t, time.Hour)
	ended := make(chan error, 1)
	s.call = func(ctx context.Context, _ link.Call) (link.CallResult, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return link.CallResult{}, context.Cause(ctx)
	}
	resp := s.post("/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Read","_meta":{"claudecode/toolUseId":"toolu_9"}}}`)
	resp.Body.Close()
	if err := <-ended; err == ErrClosed {
		t.Errorf("ended by %v", err)
	}
}
