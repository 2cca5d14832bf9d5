package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deckhand/gateway/session"
)

// rpcError reads the JSON-RPC error of an answer, whatever its status.
func rpcError(t *testing.T, got reply) (id string, code int, text string) {
	t.Helper()
	var out struct {
		ID    json.RawMessage `json:"id"`
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(got.body), &out); err != nil {
		t.Fatalf("%v in %q", err, got.body)
	}
	if got.header.Get("Content-Type") != "application/json" {
		t.Errorf("content type %q", got.header.Get("Content-Type"))
	}
	return string(out.ID), out.Error.Code, out.Error.Message
}

func TestMethodsOutsideTheListAreUnknown(t *testing.T) {
	r := newRig(t)
	for _, method := range []string{
		"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list", "resources/subscribe",
		"logging/setLevel", "sampling/createMessage", "completion/complete", "tasks/list", "tasks/cancel", "subscriptions/listen",
		"roots/list", "elicitation/create", "notifications/cancelled", "tools", "tools/List", "Ping", "agent_session_start",
	} {
		for _, meta := range []string{`{}`, modernMeta} {
			got := r.do("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","method":%q,"params":{"_meta":%s}}`, method, meta))
			if id, code, _ := rpcError(t, got); got.status != 200 || code != codeMethodNotFound || id != `"a"` {
				t.Errorf("%s with %s: %d %s", method, meta, got.status, got.body)
			}
		}
	}
}

func TestToolsOutsideTheSixAreUnknown(t *testing.T) {
	r := newRig(t)
	for _, tool := range []string{
		`"Read"`, `"Bash"`, `"Write"`, `"agent_session_start"`, `"deepseek_start"`, `"deepseek_subagent_start"`, `"native_session_Start"`,
		`"native_session_start "`, `""`, `null`, `7`, `["native_session_start"]`, `"` + strings.Repeat("é", 4000) + `"`,
	} {
		got := r.do("POST", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":`+tool+`,"arguments":{}}}`)
		id, code, text := rpcError(t, got)
		if got.status != 200 || code != codeInvalidParams || id != "5" {
			t.Errorf("%.40s: %d %s", tool, got.status, got.body)
		}
		if !strings.Contains(text, "native_session_start") || !strings.Contains(text, "Refresh") || len(text) > 600 {
			t.Errorf("%.40s: %q", tool, text)
		}
	}
	if n := len(r.engine.requests()); n != 0 {
		t.Errorf("the engine was asked %d times", n)
	}
}

func TestBadMessagesAreRefusedAndReachNothing(t *testing.T) {
	r := newRig(t)
	good := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":{"native_session_id":"s","lease_id":"l"}}}`
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	for name, c := range map[string]struct {
		body string
		code int
	}{
		"empty":                        {"", codeParse},
		"blank":                        {" \n", codeParse},
		"no JSON":                      {"hello", codeParse},
		"cut":                          {good[:len(good)-3], codeParse},
		"trailing":                     {good + "x", codeParse},
		"two messages":                 {good + good, codeParse},
		"byte order mark":              {"\xef\xbb\xbf" + good, codeParse},
		"a string":                     {`"tools/call"`, codeParse},
		"batch":                        {"[" + good + "]", codeInvalidRequest},
		"empty batch":                  {"[]", codeInvalidRequest},
		"no version":                   {`{"id":1,"method":"ping"}`, codeInvalidRequest},
		"other version":                {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, codeInvalidRequest},
		"no method":                    {`{"jsonrpc":"2.0","id":1}`, codeInvalidRequest},
		"a response":                   {`{"jsonrpc":"2.0","id":1,"result":{}}`, codeInvalidRequest},
		"method of another type":       {`{"jsonrpc":"2.0","id":1,"method":7}`, codeInvalidRequest},
		"method twice":                 {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, codeParse},
		"id twice":                     {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, codeParse},
		"null id":                      {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalidRequest},
		"fraction id":                  {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, codeInvalidRequest},
		"huge id":                      {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, codeInvalidRequest},
		"endless id":                   {`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, codeInvalidRequest},
		"object id":                    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, codeInvalidRequest},
		"params of another type":       {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, codeInvalidRequest},
		"name twice":                   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Bash","name":"native_session_status"}}`, codeInvalidRequest},
		"arguments twice":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":{},"arguments":{}}}`, codeInvalidRequest},
		"a key twice in _meta":         {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":1,"a":2}}}`, codeInvalidRequest},
		"_meta of another type":        {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7}}`, codeInvalidParams},
		"invalid UTF-8 in a name":      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"native_\xff\"}}", codeInvalidRequest},
		"half a surrogate in a method": {`{"jsonrpc":"2.0","id":1,"method":"ping\ud800"}`, codeInvalidRequest},
		"a call without id":            {strings.Replace(good, `"id":1,`, "", 1), codeInvalidRequest},
		"deep nesting":                 {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":{"x":` + deep + `}}}`, codeParse},
		"deep from the start":          {deep, codeInvalidRequest},
	} {
		got := r.do("POST", c.body)
		if _, code, text := rpcError(t, got); code != c.code || got.status/100 == 5 || text == "" {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
	if n := len(r.engine.requests()); n != 0 {
		t.Errorf("the engine was asked %d times", n)
	}
}

// mcp-go takes "METHOD" for "method" and the last of the two: were the body
// passed on as it came, this ping would list prompts.
func TestMembersInAnotherCaseDoNotSlipPastTheList(t *testing.T) {
	r := newRig(t)
	got := r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list","Params":{}}`)
	if got.status != 200 || got.body != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	got = r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","Name":"native_session_stop","ARGUMENTS":{},"arguments":{"native_session_id":"s","lease_id":"l"}}}`)
	if r.decode(got).Result.IsError {
		t.Error(got.body)
	}
	if _, ok := r.engine.requests()[0].(session.StatusRequest); !ok || len(r.engine.requests()) != 1 {
		t.Errorf("asked: %#v", r.engine.requests())
	}
}

func TestCancelledOfAnotherClientEndsNothing(t *testing.T) {
	r := newRig(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	r.engine.do = func(ctx context.Context, _ any) (session.Snapshot, error) {
		close(entered)
		select {
		case <-leave:
			return sample(), nil
		case <-ctx.Done():
			return session.Snapshot{}, context.Cause(ctx)
		}
	}
	done := make(chan reply)
	go func() {
		done <- r.do("POST", `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"native_session_status","arguments":{"native_session_id":"s","lease_id":"l"}}}`)
	}()
	<-entered
	for _, meta := range []string{`{}`, modernMeta} {
		got := r.do("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77,"_meta":`+meta+`}}`)
		if got.status != http.StatusAccepted || got.body != "" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	close(leave)
	if got := r.decode(<-done); got.Result.IsError {
		t.Errorf("the call was cancelled: %+v", got)
	}
}

func TestAbandonedCallEndsItsWaitAndNothingElse(t *testing.T) {
	r := newRig(t)
	entered, ended := make(chan struct{}), make(chan error, 1)
	r.engine.do = func(ctx context.Context, _ any) (session.Snapshot, error) {
		close(entered)
		<-ctx.Done()
		ended <- ctx.Err()
		return session.Snapshot{}, ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", r.url, strings.NewReader(callBody("native_session_status", `{"native_session_id":"s","lease_id":"l"}`)))
		req.Header.Set("Authorization", "Bearer "+localToken)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			res.Body.Close()
		}
		gone <- err
	}()
	<-entered
	leave()
	if err := <-gone; err == nil {
		t.Error("the call was answered")
	}
	if err := <-ended; err == nil {
		t.Error("the wait went on")
	}
	r.engine.do = nil
	if got := r.call("native_session_status", `{"native_session_id":"s","lease_id":"l"}`); got.Result.IsError {
		t.Errorf("%+v", got)
	}
	if strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("a client that left is logged as a fault: %s", r.log)
	}
}

func TestPanicIsAnsweredAndLoggedWithoutItsValue(t *testing.T) {
	r := newRig(t)
	r.engine.do = func(context.Context, any) (session.Snapshot, error) { panic("secret contents") }
	got := r.do("POST", callBody("native_session_status", `{"native_session_id":"s","lease_id":"l"}`))
	if id, code, text := rpcError(t, got); got.status != 200 || id != "1" || code != codeInternal || strings.Contains(text, "secret") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if log := r.log.String(); !strings.Contains(log, "panic while serving") || !strings.Contains(log, "rpc_test.go") || strings.Contains(log, "secret contents") {
		t.Errorf("log: %s", log)
	}
	r.engine.do = func(context.Context, any) (session.Snapshot, error) { var p *turnOf; return p.snapshot(), nil }
	r.do("POST", callBody("native_session_status", `{"native_session_id":"s","lease_id":"l"}`))
	if !strings.Contains(r.log.String(), "nil pointer") {
		t.Error("a fault that the runtime names is not logged by its name")
	}
	r.engine.do = nil
	if got := r.call("native_session_status", `{"native_session_id":"s","lease_id":"l"}`); got.Result.IsError {
		t.Errorf("after a panic: %+v", got)
	}
}

type turnOf struct{ s session.Snapshot }

func (t *turnOf) snapshot() session.Snapshot { return t.s }

func TestSwitchRefusesDiscoverWith200(t *testing.T) {
	r := newRig(t, func(c *Config) { c.RefuseDiscover = true })
	got := r.do("POST", discover)
	if id, code, _ := rpcError(t, got); got.status != 200 || code != codeMethodNotFound || id != `"openai-mcp-discover"` {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestDiscoverNeverGetsA4xx(t *testing.T) {
	r := newRig(t)
	for _, body := range []string{
		discover,
		strings.Replace(discover, "2026-07-28", "2031-01-01", 1),
		`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	} {
		if got := r.do("POST", body); got.status != 200 || got.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(got.body)) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

func TestAbsentHeadersAreFilledInAndContradictionsRefused(t *testing.T) {
	r := newRig(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_status","arguments":{"native_session_id":"s","lease_id":"l"},"_meta":` + modernMeta + `}}`
	all := []func(*http.Request){
		header("MCP-Protocol-Version", "2026-07-28"), header("Mcp-Method", "tools/call"), header("Mcp-Name", "native_session_status"),
	}
	for i := range 8 { // every subset of the three
		var some []func(*http.Request)
		for bit, h := range all {
			if i&(1<<bit) != 0 {
				some = append(some, h)
			}
		}
		if got := r.decode(r.do("POST", call, some...)); got.Result.IsError || got.Error != nil {
			t.Errorf("subset %d: %+v", i, got)
		}
	}
	asked := len(r.engine.requests())
	for _, wrong := range []func(*http.Request){
		header("MCP-Protocol-Version", "2025-11-25"), header("Mcp-Method", "tools/list"), header("Mcp-Name", "native_session_stop"),
	} {
		if got := r.do("POST", call, wrong); got.status != 400 || !strings.Contains(got.body, "-32020") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	for _, unknown := range []string{"yesterday", "2024-01-01"} {
		if got := r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header("MCP-Protocol-Version", unknown)); got.status != 400 || !json.Valid([]byte(got.body)) {
			t.Errorf("%s: %d %s", unknown, got.status, got.body)
		}
	}
	if n := len(r.engine.requests()); n != asked {
		t.Error("a contradicting call reached the engine")
	}
}
