package anthropic

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestDecodeTakesEveryShapeOfContent(t *testing.T) {
	r, err := DecodeRequest([]byte(`{"future":{"a":[1.0]},"model":"m","stream":true,"tools":[{"name":"a","x":1},{"type":"server_tool","name":"b"}],"messages":[
		{"role":"user","content":"plain"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"…","signature":"s"},{"type":"text","text":"t","citations":null},{"type":"tool_use","id":"i","name":"n","input":{"b":1.0}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"image"}],"is_error":true},{"type":"tool_result","tool_use_id":"j","is_error":null}]},
		{"role":"system","content":""},
		{"role":"critic","content":[]},
		{"role":"user"},
		{"role":"user","content":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Message{
		{User, []ContentBlock{Text{"plain"}}},
		{Assistant, []ContentBlock{Other{"thinking"}, Text{"t"}, ToolUse{"i", "n", jsontext.Value(`{"b":1.0}`)}}},
		{User, []ContentBlock{ToolResult{"i", true}, ToolResult{"j", false}}},
		{"system", []ContentBlock{Text{""}}},
		{"critic", []ContentBlock{}},
		{User, nil},
		{User, nil},
	}
	if !reflect.DeepEqual(r.Messages, want) {
		t.Errorf("messages:\n%#v, want\n%#v", r.Messages, want)
	}
	if r.Model != "m" || !r.Stream || !reflect.DeepEqual(r.Tools, []string{"a", "b"}) {
		t.Errorf("request: %+v", r)
	}
	if m := r.Members[0]; m.Name != "future" || string(m.Value) != `{"a":[1.0]}` {
		t.Errorf("first member: %s %s", m.Name, m.Value)
	}
}

func TestDecodeRefusesWhatCouldMeanTwoThings(t *testing.T) {
	ok := `{"model":"m","messages":[{"role":"user","content":"x"}]}`
	if _, err := DecodeRequest([]byte(ok)); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"nothing":             "",
		"array":               "[" + ok + "]",
		"two values":          ok + ok,
		"half":                ok[:len(ok)-1],
		"no messages":         `{"model":"m"}`,
		"empty messages":      `{"messages":[]}`,
		"messages twice":      strings.Replace(ok, `{`, `{"messages":[{"role":"user","content":"y"}],`, 1),
		"role twice":          strings.Replace(ok, `"role":"user"`, `"role":"user","role":"assistant"`, 1),
		"no role":             strings.Replace(ok, `"role":"user",`, ``, 1),
		"content of a number": strings.Replace(ok, `"content":"x"`, `"content":1`, 1),
		"block of a string":   strings.Replace(ok, `"content":"x"`, `"content":["x"]`, 1),
		"block without type":  strings.Replace(ok, `"content":"x"`, `"content":[{"text":"x"}]`, 1),
		"text of a number":    strings.Replace(ok, `"content":"x"`, `"content":[{"type":"text","text":1}]`, 1),
		"text without text":   strings.Replace(ok, `"content":"x"`, `"content":[{"type":"text"}]`, 1),
		"result without id":   strings.Replace(ok, `"content":"x"`, `"content":[{"type":"tool_result"}]`, 1),
		"use of a list":       strings.Replace(ok, `"content":"x"`, `"content":[{"type":"tool_use","id":"i","name":"n","input":[]}]`, 1),
		"stream of a word":    strings.Replace(ok, `{`, `{"stream":"yes",`, 1),
		"invalid UTF-8":       strings.Replace(ok, `"x"`, "\"\xff\"", 1),
		"half a surrogate":    strings.Replace(ok, `"x"`, `"\ud800"`, 1),
	} {
		if r, err := DecodeRequest([]byte(body)); err == nil || r != nil {
			t.Errorf("%s is accepted: %+v", name, r)
		}
	}
}

// FuzzDecodeRequest: what decodes keeps all its members, so that it decodes to
// the same again when they are put together.
func FuzzDecodeRequest(f *testing.F) {
	recorded, err := filepath.Glob("../bridge/testdata/*.json")
	if err != nil || len(recorded) == 0 {
		f.Fatal("no recorded requests")
	}
	for _, path := range recorded {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"messages":[{"role":"system","content":""}],"tools":null,"stream":false}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := DecodeRequest(body)
		if err != nil {
			if r != nil {
				t.Error("a request and an error")
			}
			return
		}
		var again strings.Builder
		for i, m := range r.Members {
			name, err := jsontext.AppendQuote(nil, m.Name)
			if err != nil {
				t.Fatal(err)
			}
			again.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + string(name) + ":" + string(m.Value))
		}
		r2, err := DecodeRequest([]byte(again.String() + "}"))
		if err != nil || !reflect.DeepEqual(r, r2) {
			t.Errorf("%s: %v\n%+v\n%+v", again.String(), err, r, r2)
		}
	})
}
