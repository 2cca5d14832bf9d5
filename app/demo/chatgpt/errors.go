package chatgpt

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// codeMethodNotFound is JSON-RPC's code for a method that the server lacks.
const codeMethodNotFound = -32601

// RPCError is a JSON-RPC error: the server did not take the request at all.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

// HTTPError is an answer that is not JSON-RPC, e.g. a 401.
type HTTPError struct {
	Status int
	Body   string
}

func (e *HTTPError) Error() string {
	return fmt.Sprintf("HTTP %d %s: %.200s", e.Status, http.StatusText(e.Status), e.Body)
}

// ToolError is a tool's refusal as the model reads it.
type ToolError struct {
	Tool    string `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

func (e *ToolError) Error() string {
	s := e.Tool + " refused: " + e.Code + ": " + e.Message
	if e.Detail != "" {
		s += " " + e.Detail
	}
	return s
}

// refusal reads the text of a result that is marked as an error.
func refusal(tool, text string) error {
	var body struct {
		Error *ToolError `json:"error"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil || body.Error == nil || body.Error.Code == "" {
		return fmt.Errorf("%s refused in a form that is not agreed: %.200s", tool, text)
	}
	body.Error.Tool = tool
	return body.Error
}

// CodeOf returns the stable code of a *ToolError in err, or "".
func CodeOf(err error) string {
	if refused, ok := errors.AsType[*ToolError](err); ok {
		return refused.Code
	}
	return ""
}

// decode takes a JSON-RPC answer apart.
func decode(status int, answer []byte) (json.RawMessage, error) {
	var envelope struct {
		Version string          `json:"jsonrpc"`
		Result  json.RawMessage `json:"result"`
		Error   *RPCError       `json:"error"`
	}
	if err := json.Unmarshal(answer, &envelope); err != nil || envelope.Version != "2.0" {
		return nil, &HTTPError{Status: status, Body: string(answer)}
	}
	if envelope.Error != nil {
		return nil, envelope.Error
	}
	if status != http.StatusOK {
		return nil, &HTTPError{Status: status, Body: string(answer)}
	}
	return envelope.Result, nil
}
