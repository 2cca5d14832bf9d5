package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Role is who speaks in a message. Newer clients also send "system".
type Role string

// The roles that carry a conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Request is a decoded request for an answer or for a count of tokens.
type Request struct {
	Model    string
	Stream   bool
	Messages []Message
	// Tools are the names of the tools that the answer may call.
	Tools []string
	// Members are all top-level members as they arrived, in their order.
	Members []Member
}

// Message is one message of the conversation.
type Message struct {
	Role    Role
	Content []ContentBlock
}

// Member is one top-level member of a request.
type Member struct {
	Name string
	// Value is the raw JSON, without white space around it.
	Value jsontext.Value
}

// DecodeRequest decodes the body of a request. It keeps no reference to body.
func DecodeRequest(body []byte) (*Request, error) {
	r, err := decodeRequest(body)
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

func decodeRequest(body []byte) (*Request, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	start, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if start.Kind() != '{' {
		return nil, errors.New("not an object")
	}
	r := new(Request)
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.Value = bytes.Clone(value)
		if err := r.take(m); err != nil {
			return nil, fmt.Errorf("member %q: %w", m.Name, err)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	if len(r.Messages) == 0 {
		return nil, errors.New("no messages")
	}
	return r, nil
}

// take adds one member to the request.
func (r *Request) take(m Member) error {
	r.Members = append(r.Members, m)
	switch m.Name {
	case "model":
		return json.Unmarshal(m.Value, &r.Model)
	case "stream":
		return json.Unmarshal(m.Value, &r.Stream)
	case "tools":
		// A server tool has no more than a type and a name.
		var tools []struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(m.Value, &tools); err != nil {
			return err
		}
		for _, t := range tools {
			r.Tools = append(r.Tools, t.Name)
		}
	case "messages":
		var messages []struct {
			Role    Role           `json:"role"`
			Content jsontext.Value `json:"content"`
		}
		if err := json.Unmarshal(m.Value, &messages); err != nil {
			return err
		}
		for i, w := range messages {
			if w.Role == "" {
				return fmt.Errorf("message %d has no role", i)
			}
			content, err := decodeContent(w.Content)
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			r.Messages = append(r.Messages, Message{Role: w.Role, Content: content})
		}
	}
	return nil
}

// decodeContent decodes a message's content: a string, blocks, or nothing.
func decodeContent(raw jsontext.Value) ([]ContentBlock, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch raw.Kind() {
	case 'n':
		return nil, nil
	case '"':
		var t Text
		err := json.Unmarshal(raw, &t.Text)
		return []ContentBlock{t}, err
	case '[':
		var blocks []jsontext.Value
		if err := json.Unmarshal(raw, &blocks); err != nil {
			return nil, err
		}
		content := make([]ContentBlock, len(blocks))
		for i, b := range blocks {
			var err error
			if content[i], err = decodeBlock(b); err != nil {
				return nil, fmt.Errorf("block %d: %w", i, err)
			}
		}
		return content, nil
	}
	return nil, errors.New("content is neither a string nor blocks")
}
