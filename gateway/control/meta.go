package control

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mark3labs/mcp-go/mcp"

	"deckhand/gateway/session"
)

// meta is what _meta says about the caller. None of it proves anything.
type meta struct {
	raw             jsontext.Value
	protocolVersion string
	clientName      string
	clientVersion   string
	conversation    string
	// userAgent and sessionHeader come from the HTTP request.
	userAgent, sessionHeader string
}

// chatGPT is how ChatGPT's client names itself.
const chatGPT = "openai-mcp"

// maxConversation bounds a conversation id in bytes; a longer one is no id.
const maxConversation = 256

// read takes the members that matter; others pass to mcp-go as they are.
func (m *meta) read(raw jsontext.Value) *rpcFault {
	if raw == nil || raw.Kind() == 'n' {
		return nil
	}
	if raw.Kind() != '{' {
		return fault(200, codeInvalidParams, `"_meta" must be an object`)
	}
	all, err := members(raw)
	if err != nil {
		return fault(200, codeInvalidParams, `"_meta": %s`, explain(err))
	}
	m.raw = raw
	m.protocolVersion = text(all[mcp.MetaKeyProtocolVersion])
	m.conversation = text(all["openai/session"])
	var info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	// A client that gives its name in another shape has none.
	if v := all[mcp.MetaKeyClientInfo]; v != nil && json.Unmarshal(v, &info) == nil {
		m.clientName, m.clientVersion = info.Name, info.Version
	}
	return nil
}

// readHeaders takes what a client says in HTTP headers.
func (m *meta) readHeaders(h http.Header) {
	m.userAgent, m.sessionHeader = h.Get("User-Agent"), h.Get("X-Openai-Session")
}

// client is the caller's name of itself, fit for a log line.
func (m *message) client() string {
	c := cleanClient(m.meta.userAgent)
	if c == "" || strings.HasPrefix(c, "Go-http-client") {
		if n := cleanClient(m.meta.clientName); n != "" {
			c = n
			if v := cleanClient(m.meta.clientVersion); v != "" {
				c += "/" + v
			}
		}
	}
	return c
}

// holder says who calls.
func (m *message) holder() session.Holder {
	c := m.meta.conversation
	if c == "" {
		c = m.meta.sessionHeader
	}
	if len(c) > maxConversation {
		c = ""
	}
	return session.Holder{Client: m.client(), Conversation: c}
}

// fromChatGPT reports whether the caller is ChatGPT's client, which shows its
// model both channels of a result.
func (m *message) fromChatGPT() bool {
	return strings.HasPrefix(m.meta.userAgent, chatGPT) || strings.HasPrefix(m.meta.clientName, chatGPT)
}

// cleanClient keeps the printable ASCII of a client's name, 80 bytes at most.
func cleanClient(s string) string {
	out := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(clip(out, 80))
}

// clip cuts s to at most n bytes between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
