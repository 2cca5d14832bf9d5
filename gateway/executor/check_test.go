package executor

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

func TestCheckRefusesAndNamesTheArgument(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, raw string
		code      turn.Code
		says      string
	}{
		{"Bash", `{}`, turn.ProfileViolation, "Bash is not a tool of this session; its tools are Read"},
		{"read", `{}`, turn.ProfileViolation, "read"},
		{"", `{}`, turn.ProfileViolation, `""`},
		{"Edit", `{}`, turn.ProfileViolation, "Edit"},
		{"deepseek_subagent_start", `{}`, turn.ProfileViolation, ""},
		{"RunCommand", `{"argv":[]}`, turn.InvalidArguments, "argv: "},
		{"RunCommand", `{"argv":"ls"}`, turn.InvalidArguments, "argv: "},
		{"RunCommand", `{"argv":["ls","a\u0000b"]}`, turn.InvalidArguments, "argv: must not contain a NUL"},
		{"RunCommand", `{"argv":["ls"],"cwd":"~/x"}`, turn.InvalidArguments, "cwd: ~ is not expanded"},
		{"RunCommand", `{"argv":["ls"],"timeout_seconds":601}`, turn.InvalidArguments, "timeout_seconds: "},
		{"RunCommand", `{"argv":["ls"],"env":{"A":"b"}}`, turn.InvalidArguments, "env: no such argument"},
		{"RunCommand", `{"argv":["env","sudo","ls"]}`, turn.CommandRefused, "sudo"},

		{"Read", `null`, turn.InvalidArguments, "one JSON object"},
		{"Read", `[]`, turn.InvalidArguments, "one JSON object"},
		{"Read", `"x"`, turn.InvalidArguments, "one JSON object"},
		{"Read", `{`, turn.InvalidArguments, "not valid JSON"},
		{"Read", `{} {}`, turn.InvalidArguments, ""},
		{"Read", `{"file_path":"x"}x`, turn.InvalidArguments, ""},
		{"Read", `{"file_path":'x'}`, turn.InvalidArguments, "not valid JSON"},
		{"Read", ``, turn.InvalidArguments, "file_path: is missing"},
		{"Read", `{}`, turn.InvalidArguments, "file_path: is missing"},
		{"Read", `{"file_path":"x","file_path":"x"}`, turn.InvalidArguments, "file_path: stands more than once"},
		{"Read", `{"file_path":"x","f\u0069le_path":"y"}`, turn.InvalidArguments, "file_path: stands more than once"},
		{"Read", "{\"file_path\":\"\xff\"}", turn.InvalidArguments, "file_path: is not valid Unicode"},
		{"Read", `{"file_path":"\ud800"}`, turn.InvalidArguments, "file_path: is not valid Unicode"},
		{"Read", `{"file_path":"a\u0000b"}`, turn.InvalidArguments, "file_path: must not contain a NUL"},
		{"Read", `{"file_path":"x","path":"y"}`, turn.InvalidArguments, "path: no such argument"},
		{"Read", `{"file_path":"x","File_Path":"y"}`, turn.InvalidArguments, "File_Path: no such argument"},
		{"Read", `{"file_path":5}`, turn.InvalidArguments, "file_path: "},
		{"Read", `{"file_path":null}`, turn.InvalidArguments, "file_path: "},
		{"Read", `{"file_path":["x"]}`, turn.InvalidArguments, "file_path: "},
		{"Read", `{"file_path":""}`, turn.InvalidArguments, "file_path: "},
		{"Read", `{"file_path":"x","offset":"5"}`, turn.InvalidArguments, "offset: "},
		{"Read", `{"file_path":"x","offset":0}`, turn.InvalidArguments, "offset: "},
		{"Read", `{"file_path":"x","offset":-1}`, turn.InvalidArguments, "offset: "},
		{"Read", `{"file_path":"x","offset":1.5}`, turn.InvalidArguments, "offset: must be a whole number"},
		{"Read", `{"file_path":"x","offset":1e400}`, turn.InvalidArguments, "offset: must be a whole number"},
		{"Read", `{"file_path":"x","offset":9007199254740992}`, turn.InvalidArguments, "offset: must be a whole number up to 9007199254740991"},
		{"Read", `{"file_path":"x","offset":9007199254740993}`, turn.InvalidArguments, "offset: must be a whole number"},
		{"Read", `{"file_path":"x","offset":123456789012345678901234567890}`, turn.InvalidArguments, "offset: must be a whole number"},
		{"Read", `{"file_path":"~/x"}`, turn.InvalidArguments, "file_path: ~ is not expanded"},
		{"Read", `{"file_path":"~"}`, turn.InvalidArguments, "file_path: ~ is not expanded"},
		{"Read", `{"file_path":"file:///x"}`, turn.InvalidArguments, "file_path: is a URL"},
		{"Read", `{"file_path":"/` + long + `"}`, turn.InvalidArguments, "file_path: holds a name of 300 bytes"},
		{"Read", `{"file_path":"` + strings.Repeat("/ä", 1600) + `"}`, turn.InvalidArguments, "file_path: is 4800 bytes long"},
		{"Read", `{"file_path":"` + strings.Repeat("/x", 2100) + `"}`, turn.InvalidArguments, "file_path: "},
		{"FindFiles", `{"pattern":"[a"}`, turn.InvalidArguments, "pattern: is not a valid glob"},
		{"FindFiles", `{"pattern":"/usr/*"}`, turn.InvalidArguments, "pattern: is matched below directory"},
		{"FindFiles", `{"pattern":"../*"}`, turn.InvalidArguments, "pattern: never matches '..'"},
		{"FindFiles", `{"kind":"dir"}`, turn.InvalidArguments, "kind: "},
		{"FindFiles", `{"limit":5001}`, turn.InvalidArguments, "limit: "},
		{"FindFiles", `{"ignore_case":"true"}`, turn.InvalidArguments, "ignore_case: "},
		{"SearchText", `{"text":""}`, turn.InvalidArguments, "text: "},
		{"SearchText", `{"directory":"~/x","text":"a"}`, turn.InvalidArguments, "directory: ~ is not expanded"},
		{"SearchText", `{"text":"` + strings.Repeat("x", 4097) + `"}`, turn.InvalidArguments, "text: "},
	} {
		call, err := f.e.Check(f.scope, c.name, json.RawMessage(c.raw))
		r, ok := errors.AsType[*turn.Refusal](err)
		if !ok || call.Name != "" || call.Arguments != nil {
			t.Errorf("%s %.80s: accepted (%v)", c.name, c.raw, err)
			continue
		}
		if r.Code != c.code || !strings.Contains(r.Detail, c.says) {
			t.Errorf("%s %.80s: %s: %s; want %s with %q", c.name, c.raw, r.Code, r.Detail, c.code, c.says)
		}
		// The same call is not run either.
		if res := f.e.Run(t.Context(), f.scope, turn.ToolCall{Name: c.name, Arguments: json.RawMessage(c.raw)}, Sink{}); res.Code != c.code {
			t.Errorf("%s %.80s: Run says %s", c.name, c.raw, res.Code)
		}
	}
}

func TestCheckReturnsCanonicalArguments(t *testing.T) {
	f := newFixture(t)
	for raw, want := range map[string]string{
		` { "offset" : 5 , "file_path" : "\u0061\/b" } `:  `{"file_path":"a/b","offset":5}`,
		`{"file_path":"\u00e4","limit":9007199254740991}`: `{"file_path":"ä","limit":9007199254740991}`,
		`{"file_path":"\"\\\n\u001f"}`:                    `{"file_path":"\"\\\n\u001f"}`,
	} {
		before := raw
		call, err := f.e.Check(f.scope, "Read", json.RawMessage(raw))
		if err != nil || string(call.Arguments) != want {
			t.Errorf("%s: %s, %v", raw, call.Arguments, err)
		}
		if raw != before {
			t.Error("the input was changed")
		}
	}
	call, err := f.e.Check(f.scope, "FindFiles", nil)
	if err != nil || string(call.Arguments) != "{}" {
		t.Errorf("no arguments: %s, %v", call.Arguments, err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{}`, `{"file_path":"x","offset":1}`, `{"text":"a","pattern":"**/*.{go,md}","limit":3}`, `{"pattern":"[a-","kind":"file"}`, `{"a":1e9,"a":2}`, `{"file_path":"\ud83d\ude00"}`, `[{}]`, "{\"text\":\"\xff\"}"} {
		for i := range Catalog() {
			f.Add(i, []byte(seed))
		}
	}
	schemas, err := compileSchemas()
	if err != nil {
		f.Fatal(err)
	}
	e := &Executor{schemas: schemas}
	scope := Scope{Profile: turn.WorktreeWrite, Subagent: turn.DeepSeekExplicit, WorkingDirectory: "/"}
	f.Fuzz(func(t *testing.T, tool int, raw []byte) {
		name := Catalog()[uint(tool)%uint(len(Catalog()))].Name
		call, err := e.Check(scope, name, raw)
		if err != nil {
			r, ok := errors.AsType[*turn.Refusal](err)
			if !ok || r.Detail == "" {
				t.Fatalf("refused without a reason: %v", err)
			}
			if !json.Valid(mustJSON(t, r.Detail)) {
				t.Fatal("the reason is not text")
			}
			return
		}
		again, err := e.Check(scope, name, call.Arguments)
		if err != nil || string(again.Arguments) != string(call.Arguments) {
			t.Fatalf("%s is not canonical: %s, %v", call.Arguments, again.Arguments, err)
		}
		if strings.Contains(string(call.Arguments), `\u0000`) && !strings.Contains(string(call.Arguments), `\\u0000`) {
			t.Fatalf("NUL in %s", call.Arguments)
		}
	})
}

func mustJSON(t *testing.T, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
