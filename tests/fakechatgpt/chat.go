package fakechatgpt

import (
	"encoding/json"
	"net/http"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway/control"
)

// Chat is one conversation with a gateway.
type Chat struct {
	*chatgpt.Client
	t    testing.TB
	book *Transcript
}

// Open connects as ChatGPT does. Old makes it speak the older protocol era. The
// conversation's words go into book, which may be shared.
func Open(t testing.TB, url, token string, old bool, book *Transcript) *Chat {
	t.Helper()
	c := &Chat{t: t, book: book}
	// A transport of its own, so that its connections end with the test.
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := chatgpt.Connect(t.Context(), chatgpt.Options{
		URL: url, Token: token, Old: old, Conversation: chatgpt.Key(),
		HTTP: &http.Client{Transport: transport}, Record: c.record,
	})
	if err != nil {
		t.Fatalf("connect to the gateway: %v", err)
	}
	c.Client = client
	return c
}

// record keeps an exchange and holds an answer against the schema.
func (c *Chat) record(e chatgpt.Exchange) {
	if c.book != nil {
		c.book.add(e)
	}
	if e.Method != "tools/call" || e.Status != http.StatusOK {
		return
	}
	var body struct {
		Result struct {
			Structured json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(e.Answer, &body); err != nil {
		c.t.Errorf("the answer to %s is no JSON: %v: %.300s", e.Tool, err, e.Answer)
		return
	}
	if len(body.Result.Structured) == 0 {
		return // a refusal
	}
	if err := control.ValidateAnswer(body.Result.Structured); err != nil {
		c.t.Errorf("the answer to %s does not fit its output schema: %v", e.Tool, err)
	}
}

// Start starts a session. The directory and the key may be left out: they are
// then a directory of the test's and a fresh key.
func (c *Chat) Start(args chatgpt.Start) *Session {
	c.t.Helper()
	if args.Prompt == "" {
		args.Prompt = "Look around."
	}
	if args.WorkingDirectory == "" {
		args.WorkingDirectory = c.t.TempDir()
	}
	s, err := c.Client.Start(c.t.Context(), args)
	if err != nil {
		c.t.Fatalf("start a session: %v", err)
	}
	return &Session{Session: s, t: c.t}
}

// Join takes part in a session of another conversation's.
func (c *Chat) Join(id, lease, token string) *Session {
	return &Session{Session: c.Client.Join(id, lease, token), t: c.t}
}
