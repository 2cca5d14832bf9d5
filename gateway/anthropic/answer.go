package anthropic

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MessageID names an answer to its reader.
type MessageID string

// StopReason says why an answer ends.
type StopReason string

const (
	// EndTurn: there is nothing to call; the run is over.
	EndTurn StopReason = "end_turn"
	// StopForTools: the answer ends with calls.
	StopForTools StopReason = "tool_use"
)

// usage is what every answer reports. It is small and constant: Claude Code
// measures its window by it, and a window that looks full makes it compact or
// give up.
type usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

var constantUsage = usage{InputTokens: 10, OutputTokens: 10}

// Answer is a complete answer.
type Answer struct {
	ID    MessageID
	Model string
	// Text may be blank only if there are calls; blank text is not sent.
	Text  string
	Calls []ToolUse
}

// ErrEmptyAnswer: an answer without a visible character and without a call.
// Claude Code would ask again on its own account.
var ErrEmptyAnswer = errors.New("answer holds neither text nor a call")

// StopReason returns why the answer ends.
func (a Answer) StopReason() StopReason {
	if len(a.Calls) > 0 {
		return StopForTools
	}
	return EndTurn
}

// Check refuses an answer that Claude Code would not take for one.
func (a Answer) Check() error {
	if !a.hasText() && len(a.Calls) == 0 {
		return ErrEmptyAnswer
	}
	for _, c := range a.Calls {
		if c.ID == "" || c.Name == "" || c.Input.Kind() != '{' || !c.Input.IsValid() {
			return errors.New("call without an id, a name or an object of arguments")
		}
	}
	return nil
}

// hasText reports whether the text has a visible character. Claude Code trims
// with JavaScript's idea of white space, which is wider than Go's.
func (a Answer) hasText() bool {
	return strings.ContainsFunc(a.Text, func(r rune) bool {
		return !unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf)
	})
}

// wireMessage is a message in an answer.
type wireMessage struct {
	ID           MessageID   `json:"id"`
	Type         string      `json:"type"`
	Role         Role        `json:"role"`
	Model        string      `json:"model"`
	Content      []any       `json:"content"`
	StopReason   *StopReason `json:"stop_reason"`
	StopSequence *string     `json:"stop_sequence"`
	Usage        usage       `json:"usage"`
}

type wireText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type wireToolUse struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

func newMessage(id MessageID, model string) wireMessage {
	return wireMessage{ID: id, Type: "message", Role: Assistant, Model: model, Content: []any{}, Usage: constantUsage}
}

// JSON encodes the answer to a request without "stream".
func (a Answer) JSON() ([]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	m := newMessage(a.ID, a.Model)
	reason := a.StopReason()
	m.StopReason = &reason
	if a.hasText() {
		m.Content = append(m.Content, wireText{"text", a.Text})
	}
	for _, c := range a.Calls {
		m.Content = append(m.Content, wireToolUse{"tool_use", c.ID, c.Name, c.Input})
	}
	return json.Marshal(m)
}

// TokenCount encodes the answer to a request for a count of tokens.
func TokenCount() ([]byte, error) {
	return json.Marshal(struct {
		InputTokens int `json:"input_tokens"`
	}{constantUsage.InputTokens})
}
