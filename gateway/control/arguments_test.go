package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// good holds legal arguments of each tool, all of them given.
var good = map[string]string{
	"start":          `{"prompt":"p","working_directory":"/srv","idempotency_key":"0123456789abcdef","capability_profile":"worktree_write","subagent_policy":"deepseek_explicit","session_label":"l","skill_contexts":[{"skill_id":"a"},{"skill_id":"b","content":"c"}],"wait_seconds":1}`,
	"continue":       `{"native_session_id":"s","lease_id":"l","prompt":"p","idempotency_key":"keyy","wait_seconds":1}`,
	"recover":        `{"native_session_id":"s","recovery_token":"t","recovery_id":"keyy","wait_seconds":1}`,
	"reply_and_wait": `{"native_session_id":"s","lease_id":"l","turn_id":"t","reply_id":"keyy","text":"x","tool_calls":[{"name":"Read","arguments":{"a":[1,{"b":null}]}}],"wait_seconds":1}`,
	"status":         `{"native_session_id":"s","lease_id":"l","wait_seconds":1}`,
	"stop":           `{"native_session_id":"s","lease_id":"l","request_id":"keyy","reason":"r"}`,
}

// with returns the good arguments of a tool with one member set to raw JSON,
// or left out if raw is empty.
func with(t *testing.T, tool, name, raw string) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(good[tool]), &all); err != nil {
		t.Fatal(err)
	}
	delete(all, name)
	var b strings.Builder
	b.WriteString("{")
	for k, v := range all {
		fmt.Fprintf(&b, "%q:%s,", k, v)
	}
	if raw != "" {
		fmt.Fprintf(&b, "%q:%s", name, raw)
		return b.String() + "}"
	}
	return strings.TrimSuffix(b.String(), ",") + "}"
}

func TestEveryArgumentReachesTheEngine(t *testing.T) {
	r := newRig(t)
	for tool, args := range good {
		if got := r.call("native_session_"+tool, args); got.Result.IsError || got.Error != nil {
			t.Fatalf("%s: %+v", tool, got)
		}
	}
	for _, q := range r.engine.requests() {
		switch q := q.(type) {
		case session.StartRequest:
			c := "c"
			want := []session.SkillContext{{SkillID: "a"}, {SkillID: "b", Content: &c}}
			if q.Prompt != "p" || q.WorkingDirectory != "/srv" || q.IdempotencyKey != "0123456789abcdef" || q.Profile != turn.WorktreeWrite ||
				q.SubagentPolicy != turn.DeepSeekExplicit || q.Label != "l" || len(q.Skills) != 2 || q.Skills[0] != want[0] || q.Skills[1].SkillID != "b" || *q.Skills[1].Content != "c" {
				t.Errorf("%+v", q)
			}
		case session.ContinueRequest:
			if q.Session != "s" || q.Lease != "l" || q.Prompt != "p" || q.IdempotencyKey != "keyy" {
				t.Errorf("%+v", q)
			}
		case session.RecoverRequest:
			if q.Session != "s" || q.Token != "t" || q.RecoveryID != "keyy" {
				t.Errorf("%+v", q)
			}
		case session.ReplyRequest:
			if q.Session != "s" || q.Lease != "l" || q.Turn != "t" || q.ReplyID != "keyy" || q.Text != "x" || len(q.Calls) != 1 || q.Calls[0].Name != "Read" {
				t.Errorf("%+v", q)
			}
		case session.StatusRequest:
			if q.Session != "s" || q.Lease != "l" {
				t.Errorf("%+v", q)
			}
		case session.StopRequest:
			if q.Session != "s" || q.Lease != "l" || q.RequestID != "keyy" || q.Reason != "r" {
				t.Errorf("%+v", q)
			}
		}
	}
}

func TestStartDefaultsToTheLeast(t *testing.T) {
	r := newRig(t)
	r.call("native_session_start", `{"prompt":"p","working_directory":"/","idempotency_key":"0123456789abcdef"}`)
	q := r.engine.requests()[0].(session.StartRequest)
	if q.Profile != turn.ReadOnly || q.SubagentPolicy != turn.NoSubagent || q.Label != "" || len(q.Skills) != 0 {
		t.Errorf("%+v", q)
	}
}

func TestArgumentsOfToolCallsStayAsTheyCame(t *testing.T) {
	r := newRig(t)
	for _, raw := range []string{
		`{"b": 1e400,  "a":9007199254740993}`, `{"x":"\u0000 \u00e9 <"}`, `{}`, `{ "deep":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`,
	} {
		r.call("native_session_reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":`+raw+`}]`))
		all := r.engine.requests()
		if got := string(all[len(all)-1].(session.ReplyRequest).Calls[0].Arguments); got != raw {
			t.Errorf("%s became %s", raw, got)
		}
	}
}

// TestBadArgumentsAreNamedAndChangeNothing: a code, a sentence that names the
// argument, and no call of the engine.
func TestBadArgumentsAreNamedAndChangeNothing(t *testing.T) {
	r := newRig(t)
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	many := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	call := `{"name":"Read","arguments":{}}`
	for _, c := range []struct {
		tool, args string
		code       turn.Code
		says       string
	}{
		{"status", `null`, turn.InvalidArguments, "arguments must be a JSON object, not null"},
		{"status", `[]`, turn.InvalidArguments, "not an array"},
		{"status", `"x"`, turn.InvalidArguments, "not a string"},
		{"status", `7`, turn.InvalidArguments, "not a number"},
		{"status", `true`, turn.InvalidArguments, "not a boolean"},
		{"status", `{}`, turn.InvalidArguments, "the call lacks native_session_id, lease_id"},
		{"start", with(t, "start", "prompt", ""), turn.InvalidArguments, "the call lacks prompt"},
		{"status", with(t, "status", "model", `"gpt"`), turn.InvalidArguments, `the call has no "model"; it takes native_session_id, lease_id, wait_seconds`},
		{"status", with(t, "status", "Lease_ID", `"l"`), turn.InvalidArguments, `has no "Lease_ID"`},
		{"status", `{"native_session_id":"s","native_session_id":"t","lease_id":"l"}`, turn.InvalidArguments, "native_session_id occurs twice"},
		{"status", "{\"native_session_id\":\"s\xff\",\"lease_id\":\"l\"}", turn.InvalidArguments, "native_session_id is not valid UTF-8"},
		{"status", `{"native_session_id":"s\ud800","lease_id":"l"}`, turn.InvalidArguments, "native_session_id is not valid UTF-8"},
		{"status", "{\"\xff\":1}", turn.InvalidArguments, "not valid UTF-8"},
		{"status", with(t, "status", "native_session_id", `"s\u0000"`), turn.InvalidArguments, "native_session_id holds a NUL"},
		{"start", with(t, "start", "working_directory", `"/srv\u0000/x"`), turn.InvalidArguments, "working_directory holds a NUL"},
		{"start", with(t, "start", "prompt", `"\u0000"`), turn.InvalidArguments, "prompt holds a NUL"},
		{"start", with(t, "start", "skill_contexts", `[{"skill_id":"\u0000"}]`), turn.InvalidArguments, "skill_contexts[0].skill_id holds a NUL"},
		{"status", with(t, "status", "native_session_id", `7`), turn.InvalidArguments, "native_session_id is a number; it takes text of 1 to 200 characters"},
		{"status", with(t, "status", "native_session_id", `""`), turn.InvalidArguments, "native_session_id has 0 characters"},
		{"status", with(t, "status", "native_session_id", long(201)), turn.InvalidArguments, "native_session_id has 201 characters"},
		{"status", with(t, "status", "wait_seconds", `null`), turn.InvalidArguments, "wait_seconds is null; it is left out"},
		{"status", with(t, "status", "wait_seconds", `51`), turn.InvalidArguments, "wait_seconds is not allowed; it takes a whole number from 0 to 50"},
		{"status", with(t, "status", "wait_seconds", `-1`), turn.InvalidArguments, "wait_seconds"},
		{"status", with(t, "status", "wait_seconds", `0.5`), turn.InvalidArguments, "wait_seconds is a number; it takes a whole number"},
		{"status", with(t, "status", "wait_seconds", `"30"`), turn.InvalidArguments, "wait_seconds is a string"},
		{"status", with(t, "status", "wait_seconds", `1e400`), turn.InvalidArguments, "wait_seconds is a number beyond 2^53-1"},
		{"status", with(t, "status", "wait_seconds", `1e999999999`), turn.InvalidArguments, "wait_seconds is a number beyond 2^53-1"},
		{"status", with(t, "status", "wait_seconds", `9007199254740993`), turn.InvalidArguments, "wait_seconds is a number beyond 2^53-1"},
		{"start", with(t, "start", "idempotency_key", long(15)), turn.InvalidArguments, "idempotency_key has 15 characters; it takes text of 16 to 200 characters"},
		{"start", with(t, "start", "idempotency_key", long(201)), turn.InvalidArguments, "idempotency_key has 201 characters"},
		{"continue", with(t, "continue", "idempotency_key", `"k"`), turn.InvalidArguments, "idempotency_key has 1 characters"},
		{"recover", with(t, "recover", "recovery_id", `"kkk"`), turn.InvalidArguments, "recovery_id has 3 characters"},
		{"stop", with(t, "stop", "request_id", `"kkk"`), turn.InvalidArguments, "request_id has 3 characters"},
		{"stop", with(t, "stop", "reason", long(1001)), turn.InvalidArguments, "reason has 1001 characters; it takes text of at most 1000"},
		{"start", with(t, "start", "capability_profile", `"root"`), turn.InvalidArguments, "capability_profile is not allowed; it takes one of read_only, direct_write, worktree_write"},
		{"start", with(t, "start", "subagent_policy", `"yes"`), turn.InvalidArguments, "subagent_policy is not allowed; it takes one of none, deepseek_explicit"},
		{"start", with(t, "start", "session_label", long(121)), turn.InvalidArguments, "session_label has 121 characters"},
		{"start", with(t, "start", "session_label", `null`), turn.InvalidArguments, "session_label is null"},
		{"start", with(t, "start", "skill_contexts", many(9, `{"skill_id":"a"}`)), turn.InvalidArguments, "skill_contexts has 9 entries; it takes a list of at most 8"},
		{"start", with(t, "start", "skill_contexts", `[{"content":"c"}]`), turn.InvalidArguments, "skill_contexts[0] lacks skill_id"},
		{"start", with(t, "start", "skill_contexts", `[{"skill_id":"a","path":"/x"}]`), turn.InvalidArguments, `skill_contexts[0] has no "path"`},
		{"start", with(t, "start", "skill_contexts", `["a"]`), turn.InvalidArguments, "skill_contexts[0] is a string; it takes an object with skill_id, content"},
		{"start", with(t, "start", "prompt", long(300<<10)), turn.TooLarge, "prompt has 307200 characters"},
		{"start", with(t, "start", "prompt", `"`+strings.Repeat("é", 200<<10)+`"`), turn.TooLarge, "prompt has 409600 bytes; it takes at most 262144"},
		{"continue", with(t, "continue", "prompt", long(256<<10+1)), turn.TooLarge, "prompt"},
		{"reply_and_wait", with(t, "reply_and_wait", "text", long(768<<10+1)), turn.TooLarge, "text has 786433 characters"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", many(17, call)), turn.InvalidArguments, "tool_calls has 17 entries; it takes a list of at most 16"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `{}`), turn.InvalidArguments, "tool_calls is an object; it takes a list"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[`+call+`,{"name":"Read"}]`), turn.InvalidArguments, "tool_calls[1] lacks arguments"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":"{}"}]`), turn.InvalidArguments, "tool_calls[0].arguments is a string; it takes an object"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":[]}]`), turn.InvalidArguments, "tool_calls[0].arguments is an array"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":7,"arguments":{}}]`), turn.InvalidArguments, "tool_calls[0].name is a number"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":{},"id":"x"}]`), turn.InvalidArguments, `tool_calls[0] has no "id"`},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":{"a":{"b":1,"b":2}}}]`), turn.InvalidArguments, "tool_calls[0].arguments.a.b occurs twice"},
		{"reply_and_wait", with(t, "reply_and_wait", "tool_calls", `[{"name":"Read","arguments":{"a":"\udc00"}}]`), turn.InvalidArguments, "tool_calls[0].arguments.a is not valid UTF-8"},
		{"status", `{"a":1,"b":2,"lease_id":7}`, turn.InvalidArguments, `the call has no "a", "b"`},
		{"status", with(t, "status", "x", strings.Repeat(`{"a":`, 9000)+"1"+strings.Repeat("}", 9000)), turn.InvalidArguments, `has no "x"`},
	} {
		got := r.refused("native_session_"+c.tool, c.args)
		if got.Error.Code != c.code || !strings.Contains(got.Error.Detail, c.says) || got.Error.Message == "" || got.Error.Hint == "" {
			t.Errorf("%s %.120s:\n got %s: %s\nwant %s: %s", c.tool, c.args, got.Error.Code, got.Error.Detail, c.code, c.says)
		}
	}
	if n := len(r.engine.requests()); n != 0 {
		t.Errorf("the engine was asked %d times", n)
	}
}

func TestManyFaultsAreNamedBoundedly(t *testing.T) {
	r := newRig(t)
	args := `{"native_session_id":7,"lease_id":8,"turn_id":9,"reply_id":"k","text":1,"wait_seconds":51,"tool_calls":[` +
		strings.TrimSuffix(strings.Repeat(`{"name":1,"arguments":2},`, 16), ",") + `],"` + strings.Repeat("x", 9000) + `":1}`
	detail := r.refused("native_session_reply_and_wait", args).Error.Detail
	if len(detail) > 2000 || !strings.Contains(detail, "more") {
		t.Errorf("%d bytes: %s", len(detail), detail)
	}
}
