package anthropic

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write the golden transcripts")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

var answers = map[string]Answer{
	"text": {ID: "msg_1", Model: "m", Text: "Done: <é> \"q\"\r\n\u2028end"},
	"calls": {ID: "msg_2", Model: "m", Calls: []ToolUse{
		{"toolu_1", "mcp__deckhand__Read", jsontext.Value(`{"file_path":"/a b"}`)},
		{"toolu_2", "mcp__deckhand__Read", jsontext.Value(`{}`)}}},
	"both":  {ID: "msg_3", Model: "m", Text: "Look.", Calls: []ToolUse{{"toolu_3", "n", jsontext.Value(`{"x":1}`)}}},
	"blank": {ID: "msg_4", Model: "m", Text: " \n\u200b", Calls: []ToolUse{{"toolu_4", "n", jsontext.Value(`{}`)}}},
}

func TestAnswersOnTheWire(t *testing.T) {
	for name, a := range answers {
		start, err := Start(a.ID, a.Model)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := a.Rest()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".sse", string(start)+string(Ping())+string(rest))
		whole, err := a.JSON()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", string(whole))
		if again, err := a.Rest(); err != nil || string(again) != string(rest) {
			t.Errorf("%s is encoded differently the second time", name)
		}
	}
}

func TestErrorsOnTheWire(t *testing.T) {
	body, err := ErrorBody(InvalidRequest, `run "over"`)
	if err != nil || string(body) != `{"type":"error","error":{"type":"invalid_request_error","message":"run \"over\""}}` {
		t.Errorf("body: %s %v", body, err)
	}
	event, err := ErrorEvent(Unavailable, "later")
	if err != nil || string(event) != "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"later\"}}\n\n" {
		t.Errorf("event: %s %v", event, err)
	}
	if count, err := TokenCount(); err != nil || string(count) != `{"input_tokens":10}` {
		t.Errorf("count: %s %v", count, err)
	}
}

func TestAnswersThatClaudeCodeWouldNotTakeAreRefused(t *testing.T) {
	for _, text := range []string{"", " \t\r\n", "\ufeff", "\u00a0\u3000", "\u200b\u2060"} {
		a := Answer{ID: "i", Model: "m", Text: text}
		_, err1 := a.Rest()
		_, err2 := a.JSON()
		if !errors.Is(err1, ErrEmptyAnswer) || !errors.Is(err2, ErrEmptyAnswer) {
			t.Errorf("%q: %v, %v", text, err1, err2)
		}
	}
	for name, call := range map[string]ToolUse{
		"no id":         {"", "n", jsontext.Value(`{}`)},
		"no name":       {"i", "", jsontext.Value(`{}`)},
		"no arguments":  {"i", "n", nil},
		"list":          {"i", "n", jsontext.Value(`[]`)},
		"not JSON":      {"i", "n", jsontext.Value(`{"a"}`)},
		"key twice":     {"i", "n", jsontext.Value(`{"a":1,"a":2}`)},
		"invalid UTF-8": {"i", "n", jsontext.Value("{\"a\":\"\xff\"}")},
	} {
		if _, err := (Answer{ID: "i", Model: "m", Calls: []ToolUse{call}}).Rest(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
