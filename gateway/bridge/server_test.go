package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token  = "port-token"
	prompt = "Request:\nlook"
)

// served is a bridge on a real port, with a scripted gateway behind it.
type served struct {
	*Server
	t   *testing.T
	url string

	mu     sync.Mutex
	offers []link.Offer
	// answer releases the pending offers.
	answer  chan struct{}
	release link.Release
	err     error
	call    func(context.Context, link.Call) (link.CallResult, error)
}

func serve(t *testing.T, ping time.Duration) *served {
	s := &served{t: t, answer: make(chan struct{}), release: link.Release{Turn: "trn_1", Text: "Hello.", Calls: []link.ToolUse{
		{ID: "toolu_1", Name: "Read", Arguments: json.RawMessage(`{"file_path":"/a"}`)}}}}
	hs := httptest.NewUnstartedServer(nil)
	host := hs.Listener.Addr().String()
	var err error
	s.Server, err = New(Config{Run: "run_1", Token: token, Host: host, Name: "deckhand", Model: "m", Prompt: prompt,
		Tools: []Tool{
			{Name: "Read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
			{Name: "Write", Description: "Writes.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
		Offer: func(ctx context.Context, o link.Offer) (link.Release, error) {
			s.mu.Lock()
			s.offers = append(s.offers, o)
			s.mu.Unlock()
			if o.Tail == link.TailOther {
				return link.Release{}, turn.Refuse(turn.UnexpectedModelRequest, "")
			}
			select {
			case <-s.answer:
				return s.release, s.err
			case <-ctx.Done():
				return link.Release{}, context.Cause(ctx)
			}
		},
		Call:         func(ctx context.Context, c link.Call) (link.CallResult, error) { return s.call(ctx, c) },
		PingInterval: ping})
	if err != nil {
		t.Fatal(err)
	}
	hs.Config.Handler = s.Server
	hs.Start()
	s.url = hs.URL
	t.Cleanup(func() {
		s.Server.Close()
		hs.CloseClientConnections()
		hs.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func ask(tail string, stream bool) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%s}],"tools":[{"name":"mcp__deckhand__Read"},{"name":"mcp__deckhand__Write"}],"max_tokens":100,"stream":%v}`, tail, stream)
}

var promptJSON = `"` + strings.ReplaceAll(prompt, "\n", `\n`) + `"`

func (s *served) post(path, body string, header ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", token)
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (s *served) offered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.offers)
}

func TestForeignRequestsAreRefused(t *testing.T) {
	s := serve(t, time.Hour)
	close(s.answer)
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/mcp"} {
		for name, c := range map[string]struct {
			header []string
			status int
		}{
			"no token":         {[]string{"X-Api-Key", "", "Authorization", ""}, 401},
			"wrong token":      {[]string{"X-Api-Key", token + "x", "Authorization", "Bearer " + token + "x"}, 401},
			"half a token":     {[]string{"X-Api-Key", token[:4], "Authorization", "Bearer " + token[:4]}, 401},
			"bare token":       {[]string{"X-Api-Key", "", "Authorization", token}, 401},
			"not a bearer":     {[]string{"X-Api-Key", "", "Authorization", "Basic " + token}, 401},
			"web page":         {[]string{"Origin", "https://example.com"}, 403},
			"page of its own":  {[]string{"Origin", s.url}, 403},
			"null origin":      {[]string{"Origin", "null"}, 403},
			"empty origin":     {[]string{"Origin", ""}, 403},
			"rebound name":     {[]string{"Host", "example.com"}, 403},
			"localhost":        {[]string{"Host", strings.Replace(s.cfg.Host, "127.0.0.1", "localhost", 1)}, 403},
			"name and no port": {[]string{"Host", "127.0.0.1"}, 403},
		} {
			if got := s.post(path, ask(promptJSON, false), c.header...).StatusCode; got != c.status {
				t.Errorf("%s, %s: %d, want %d", path, name, got, c.status)
			}
		}
	}
	if n := s.offered(); n != 0 {
		t.Errorf("%d offers were made for foreign requests", n)
	}
	resp, err := http.Head(s.url + "/api/hello")
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("hello: %v %v", resp, err)
	}
	if got := s.post("/v1/complete", "{}").StatusCode; got != 404 {
		t.Errorf("unknown endpoint: %d", got)
	}
	if got := body(t, s.post("/v1/messages/count_tokens", ask(promptJSON, false))); got != `{"input_tokens":10}` {
		t.Errorf("count: %s", got)
	}
}

func TestRepeatsJoinOneTurnAndGetTheSameAnswer(t *testing.T) {
	s := serve(t, 10*time.Millisecond)
	// Asked and given up, with and without stream.
	for _, stream := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", strings.NewReader(ask(promptJSON, stream)))
		req.Header.Set("X-Api-Key", token)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		cancel()
	}
	parked := s.post("/v1/messages?beta=true", ask(promptJSON, true))
	lines := bufio.NewReader(parked.Body)
	var stream strings.Builder
	for !strings.Contains(stream.String(), "event: ping") {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		stream.WriteString(line)
	}
	close(s.answer)
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	stream.Write(rest)
	streamed := withoutPings(stream.String())
	if got := body(t, s.post("/v1/messages", ask(promptJSON, true))); got != streamed {
		t.Errorf("a repeat with stream gets\n%s\nand the first got\n%s", got, streamed)
	}
	whole := body(t, s.post("/v1/messages", ask(promptJSON, false)))
	if again := body(t, s.post("/v1/messages", ask(promptJSON, false))); again != whole {
		t.Errorf("a repeat gets %s, the first got %s", again, whole)
	}
	var message struct{ ID string }
	if err := json.Unmarshal([]byte(whole), &message); err != nil || message.ID == "" || !strings.Contains(streamed, message.ID) {
		t.Errorf("message id %q is not in the stream %s", message.ID, streamed)
	}
	for _, want := range []string{`"toolu_1"`, `"mcp__deckhand__Read"`, `"Hello."`} {
		if !strings.Contains(whole, want) || !strings.Contains(streamed, want) {
			t.Errorf("%s is missing in %s or %s", want, whole, streamed)
		}
	}
	if n := s.offered(); n != 1 || s.Offers() != 1 {
		t.Errorf("%d offers, %d counted", n, s.Offers())
	}
}

func TestAnswerWithoutStreamIsKeptAlive(t *testing.T) {
	s := serve(t, 5*time.Millisecond)
	resp := s.post("/v1/messages", ask(promptJSON, false)) // returns with the first sign of life
	close(s.answer)
	got := body(t, resp)
	whole := body(t, s.post("/v1/messages", ask(promptJSON, false)))
	if strings.TrimLeft(got, " ") != whole || got == whole || !json.Valid([]byte(got)) {
		t.Errorf("kept alive: %q, at once: %q", got, whole)
	}
}

func TestRefusalOfAnAnswerKeptAliveIsHeardInTheRepeat(t *testing.T) {
	s := serve(t, 5*time.Millisecond)
	s.err = turn.Refuse(turn.CallMismatch, "")
	resp := s.post("/v1/messages", ask(promptJSON, false))
	close(s.answer)
	if raw, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("an answer: %q", raw)
	}
	if got := s.post("/v1/messages", ask(promptJSON, false)).StatusCode; got != 400 {
		t.Errorf("repeat: %d", got)
	}
}

func withoutPings(s string) string {
	return strings.ReplaceAll(s, "event: ping\ndata: {\"type\":\"ping\"}\n\n", "")
}

func TestResultsAreNamedInTheOrderOfTheirRelease(t *testing.T) {
	s := serve(t, time.Hour)
	s.release.Calls = []link.ToolUse{{ID: "toolu_1", Name: "Read", Arguments: []byte("{}")}, {ID: "toolu_2", Name: "Read", Arguments: []byte("{}")}}
	close(s.answer)
	body(t, s.post("/v1/messages", ask(promptJSON, false)))
	const a, b = `{"type":"tool_result","tool_use_id":"toolu_1"}`, `{"type":"tool_result","tool_use_id":"toolu_2"}`
	body(t, s.post("/v1/messages", ask("["+b+","+a+"]", false)))
	if got := fmt.Sprint(s.offers[1].ToolUseIDs); got != "[toolu_1 toolu_2]" {
		t.Errorf("ids: %s", got)
	}
	// Not what was released last: the gateway shall see it as it is.
	body(t, s.post("/v1/messages", ask("["+b+","+b+"]", false)))
	if got := fmt.Sprint(s.offers[2].ToolUseIDs); got != "[toolu_2 toolu_2]" {
		t.Errorf("ids: %s", got)
	}
}

func TestNothingIsAnsweredAfterARequestThatIsNoTurn(t *testing.T) {
	s := serve(t, time.Hour)
	close(s.answer)
	for _, stream := range []bool{true, false} {
		resp := s.post("/v1/messages", ask(`"CRITICAL: text only"`, stream))
		if got := body(t, resp); resp.StatusCode != 400 || !strings.Contains(got, "invalid_request_error") || !strings.Contains(got, "unexpected_model_request") {
			t.Errorf("stream %v: %d %s", stream, resp.StatusCode, got)
		}
	}
	if got := s.post("/v1/messages", ask(promptJSON, true)).StatusCode; got != 400 {
		t.Errorf("a turn after that: %d", got)
	}
	s.Close()
	if len(s.offers) != 1 || s.offers[0].Tail != link.TailOther || s.offers[0].Summary == "" {
		t.Errorf("offers: %+v", s.offers)
	}
}

func TestRefusalAndEmptyAnswerEndTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		release link.Release
		err     error
		says    string
	}{
		"refusal":          {err: turn.Refuse(turn.CallMismatch, "secret detail"), says: "call_mismatch"},
		"empty answer":     {release: link.Release{}, says: "internal_error"},
		"invisible answer": {release: link.Release{Text: " \n\ufeff\u200b"}, says: "internal_error"},
		"broken call":      {release: link.Release{Calls: []link.ToolUse{{ID: "toolu_1", Name: "Read", Arguments: []byte("[]")}}}, says: "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, time.Hour)
			s.release, s.err = c.release, c.err
			parked := s.post("/v1/messages", ask(promptJSON, true))
			close(s.answer)
			got := body(t, parked)
			if !strings.Contains(got, "event: error\n") || !strings.Contains(got, c.says) || strings.Contains(got, "secret") {
				t.Errorf("stream: %s", got)
			}
			again := s.post("/v1/messages", ask(promptJSON, false))
			if got := body(t, again); again.StatusCode != 400 || !strings.Contains(got, c.says) || strings.Contains(got, "secret") {
				t.Errorf("again: %d %s", again.StatusCode, got)
			}
		})
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	s := serve(t, time.Hour)
	s.call = func(ctx context.Context, _ link.Call) (link.CallResult, error) {
		<-ctx.Done()
		return link.CallResult{}, context.Cause(ctx)
	}
	parked := s.post("/v1/messages", ask(promptJSON, true))
	call := s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read","_meta":{"claudecode/toolUseId":"toolu_1"}}}`)
	s.Close()
	if got := body(t, parked); !strings.Contains(got, "event: error\n") {
		t.Errorf("parked request: %s", got)
	}
	if got := body(t, call); !strings.Contains(got, `"isError":true`) {
		t.Errorf("call: %s", got)
	}
	if got := s.post("/v1/messages", ask(promptJSON, false)).StatusCode; got != 503 {
		t.Errorf("after close: %d", got)
	}
}

func TestManyQuestionsAreNotAllKept(t *testing.T) {
	var table turns
	for i := range 100 {
		q, isNew := table.ask(fmt.Sprint(i))
		if !isNew {
			t.Fatal("a new question is old")
		}
		table.answer(q, link.Release{}, nil)
	}
	if len(table.open) > keepAnswers+1 || table.count() != 100 {
		t.Errorf("%d kept, %d counted", len(table.open), table.count())
	}
	if _, isNew := table.ask("99"); isNew {
		t.Error("the newest question is forgotten")
	}
	waiting, _ := table.ask("waiting")
	for i := range 100 {
		q, _ := table.ask(fmt.Sprint("later", i))
		table.answer(q, link.Release{}, nil)
	}
	if again, isNew := table.ask("waiting"); isNew || again != waiting {
		t.Error("a question without an answer is forgotten")
	}
}
