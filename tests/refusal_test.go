package tests

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
)

// refused checks that err is a tool's refusal with that code ("" takes any) and
// a sentence.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	refusal, ok := errors.AsType[*chatgpt.ToolError](err)
	if !ok {
		t.Errorf("it was not refused by the tool: %v", err)
		return
	}
	if code != "" && refusal.Code != code {
		t.Errorf("it was refused as %s (%s), not as %s", refusal.Code, refusal.Detail, code)
	}
	if refusal.Code == "internal_error" || !strings.HasSuffix(refusal.Message, ".") || refusal.Hint == "" {
		t.Errorf("the refusal has no code, sentence and hint: %+v", refusal)
	}
}

// isRefusal reports whether a body is a JSON-RPC error or a result that is
// marked as an error.
func isRefusal(body []byte) bool {
	var answer struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	return json.Unmarshal(body, &answer) == nil && (len(answer.Error) > 0 || answer.Result.IsError)
}

// must ends the test if something around the test itself went wrong.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
