package anthropic

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ContentBlock is one block of a message: Text, ToolUse, ToolResult or Other.
type ContentBlock interface {
	// Kind is the value of the block's "type".
	Kind() string
	sealed()
}

// Text is a block of text.
type Text struct{ Text string }

// ToolUse is a call that an assistant message makes.
type ToolUse struct {
	ID   string
	Name string
	// Input is a JSON object.
	Input jsontext.Value
}

// ToolResult is what a call gave. Its content is not decoded: nobody here may
// take a client's word for what a tool said.
type ToolResult struct {
	ToolUseID string
	IsError   bool
}

// Other is a block of a kind that this package does not know.
type Other struct{ Type string }

func (Text) Kind() string       { return "text" }
func (ToolUse) Kind() string    { return "tool_use" }
func (ToolResult) Kind() string { return "tool_result" }
func (o Other) Kind() string    { return o.Type }

func (Text) sealed()       {}
func (ToolUse) sealed()    {}
func (ToolResult) sealed() {}
func (Other) sealed()      {}

// wireBlock has the members of every kind of block that is decoded.
type wireBlock struct {
	Type      string         `json:"type"`
	Text      jsontext.Value `json:"text"`
	ID        jsontext.Value `json:"id"`
	Name      jsontext.Value `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID jsontext.Value `json:"tool_use_id"`
	IsError   jsontext.Value `json:"is_error"`
}

func decodeBlock(raw jsontext.Value) (ContentBlock, error) {
	var w wireBlock
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	var err error
	switch w.Type {
	case "":
		return nil, errors.New("block without a type")
	case "text":
		var t Text
		err = member(w.Text, "text", &t.Text)
		return t, err
	case "tool_use":
		var t ToolUse
		err = errors.Join(member(w.ID, "id", &t.ID), member(w.Name, "name", &t.Name))
		t.Input = bytes.Clone(w.Input)
		if t.Input.Kind() != '{' && err == nil {
			err = errors.New("tool_use block whose input is not an object")
		}
		return t, err
	case "tool_result":
		var t ToolResult
		err = member(w.ToolUseID, "tool_use_id", &t.ToolUseID)
		if w.IsError != nil && w.IsError.Kind() != 'n' {
			err = errors.Join(err, member(w.IsError, "is_error", &t.IsError))
		}
		return t, err
	}
	return Other{Type: w.Type}, nil
}

// member decodes a member that the block's kind must have.
func member(raw jsontext.Value, name string, into any) error {
	if raw == nil {
		return fmt.Errorf("block without %s", name)
	}
	return json.Unmarshal(raw, into)
}
