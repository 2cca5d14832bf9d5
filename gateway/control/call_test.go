package control

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/session"
)

func TestWaitIsCutToTheServersLongest(t *testing.T) {
	ids := `"native_session_id":"s","lease_id":"l"`
	for _, c := range []struct {
		max        time.Duration
		tool, args string
		want       time.Duration
	}{
		{0, "status", ids, 0},
		{0, "status", ids + `,"wait_seconds":0`, 0},
		{0, "status", ids + `,"wait_seconds":30.0`, 30 * time.Second},
		{0, "status", ids + `,"wait_seconds":5e1`, 40 * time.Second},
		{25 * time.Second, "status", ids + `,"wait_seconds":26`, 25 * time.Second},
		{25 * time.Second, "continue", ids + `,"prompt":"p","idempotency_key":"keyy"`, 25 * time.Second},
		{0, "continue", ids + `,"prompt":"p","idempotency_key":"keyy"`, 30 * time.Second},
		{0, "reply_and_wait", ids + `,"turn_id":"t","reply_id":"keyy"`, 30 * time.Second},
		{0, "start", `"prompt":"p","working_directory":"/","idempotency_key":"0123456789abcdef"`, 30 * time.Second},
		{0, "recover", `"native_session_id":"s","recovery_token":"t","recovery_id":"keyy"`, 0},
	} {
		r := newRig(t, func(k *Config) { k.MaxWait = c.max })
		r.call("native_session_"+c.tool, "{"+c.args+"}")
		var got time.Duration
		switch q := r.engine.requests()[0].(type) {
		case session.StartRequest:
			got = q.Wait
		case session.ContinueRequest:
			got = q.Wait
		case session.RecoverRequest:
			got = q.Wait
		case session.ReplyRequest:
			got = q.Wait
		case session.StatusRequest:
			got = q.Wait
		}
		if got != c.want {
			t.Errorf("%s %s: %v, want %v", c.tool, c.args, got, c.want)
		}
	}
	for _, bad := range []time.Duration{-1, 51 * time.Second} {
		if _, err := New(Config{Engine: &script{}, Version: "test", Log: slog.New(slog.DiscardHandler), MaxWait: bad}); err == nil {
			t.Errorf("a longest wait of %v was accepted", bad)
		}
	}
}

func TestHolderIsWhoTheTransportSays(t *testing.T) {
	r := newRig(t)
	args := `{"native_session_id":"s","lease_id":"l"}`
	call := func(meta string, change ...func(*http.Request)) session.Holder {
		r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":`+args+`,"_meta":`+meta+`}}`, change...)
		all := r.engine.requests()
		return all[len(all)-1].(session.StatusRequest).Holder
	}
	ua := header("User-Agent", "openai-mcp/1.0.0 (Codex)")
	for _, c := range []struct {
		name   string
		meta   string
		change []func(*http.Request)
		want   session.Holder
	}{
		{"nothing", `{}`, []func(*http.Request){header("User-Agent", "")}, session.Holder{}},
		{"both in _meta", modernMeta[:len(modernMeta)-1] + `,"openai/session":"v1/abc"}`, []func(*http.Request){header("User-Agent", "")},
			session.Holder{Client: "openai-mcp/1.0.0", Conversation: "v1/abc"}},
		{"both in headers", `{}`, []func(*http.Request){ua, header("X-Openai-Session", "v1/def")},
			session.Holder{Client: "openai-mcp/1.0.0 (Codex)", Conversation: "v1/def"}},
		{"_meta before headers", `{"openai/session":"v1/abc"}`, []func(*http.Request){ua, header("X-Openai-Session", "v1/def")},
			session.Holder{Client: "openai-mcp/1.0.0 (Codex)", Conversation: "v1/abc"}},
		{"of another type", `{"openai/session":7,"io.modelcontextprotocol/clientInfo":[]}`, []func(*http.Request){ua},
			session.Holder{Client: "openai-mcp/1.0.0 (Codex)"}},
		{"no clean name", `{"io.modelcontextprotocol/clientInfo":{"name":"a\n\u001b[1mé b"}}`, []func(*http.Request){header("User-Agent", "")},
			session.Holder{Client: "a[1m b"}},
		{"too long", `{"openai/session":"` + strings.Repeat("x", maxConversation+1) + `"}`, []func(*http.Request){header("User-Agent", strings.Repeat("u", 200))},
			session.Holder{Client: strings.Repeat("u", 80) + "…"}},
	} {
		if got := call(c.meta, c.change...); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestChatGPTGetsASummaryAndOthersTheJSON(t *testing.T) {
	r := newRig(t)
	args := `{"native_session_id":"s","lease_id":"l"}`
	whole := r.call("native_session_status", args)
	if got, want := whole.Result.Content[0].Text, string(whole.Result.Structured); !sameJSON(t, got, want) {
		t.Errorf("the text is not the structured content:\n%s\n%s", got, want)
	}
	if !strings.Contains(whole.Result.Content[0].Text, "<here>") {
		t.Error("the text escapes what JSON need not escape")
	}
	brief := r.call("native_session_status", args, header("User-Agent", "openai-mcp/1.0.0"))
	if !sameJSON(t, string(brief.Result.Structured), string(whole.Result.Structured)) {
		t.Error("ChatGPT gets another state")
	}
	want := "Session ses_1 is waiting_for_gpt (revision 3).\nTurn trn_1 is pending with 0 results.\nThe turn is answered with native_session_reply_and_wait."
	if got := brief.Result.Content[0].Text; got != want {
		t.Errorf("summary: %q", got)
	}
	modern := r.decode(r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":`+args+`,"_meta":`+modernMeta+`}}`))
	if got := modern.Result.Content[0].Text; got != want {
		t.Errorf("summary by clientInfo: %q", got)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	compact := func(s string) string {
		var v any
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatalf("%v in %q", err, s)
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return compact(a) == compact(b)
}

func TestLogHoldsTheRequestWithoutItsContents(t *testing.T) {
	r := newRig(t)
	r.call("native_session_start", `{"prompt":"CONTENTS","working_directory":"/CONTENTS","idempotency_key":"CONTENTS-CONTENTS"}`, header("User-Agent", "openai-mcp/1.0.0"))
	r.refused("native_session_status", `{"native_session_id":"CONTENTS","CONTENTS":1}`)
	r.do("POST", `{"jsonrpc":"2.0","id":"CONTENTS","method":"CONTENTS"}`)
	r.do("POST", callBody("CONTENTS", "{}"))
	r.do("POST", "CONTENTS", header("Authorization", "Bearer CONTENTS"))
	log := r.log.String()
	if strings.Contains(log, "CONTENTS") || strings.Contains(log, localToken) {
		t.Errorf("contents in the log:\n%s", log)
	}
	for _, want := range []string{
		"method=tools/call tool=native_session_start status=200 code=\"\"", "client=openai-mcp/1.0.0", "code=invalid_arguments", "status=401", "duration=",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in the log:\n%s", want, log)
		}
	}
	if n := strings.Count(log, "msg=request"); n != 5 {
		t.Errorf("%d lines for 5 requests:\n%s", n, log)
	}
}
