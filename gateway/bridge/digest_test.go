package bridge

import (
	"os"
	"strings"
	"testing"

	"deckhand/gateway/anthropic"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// recorded returns a request of the real Claude Code 2.1.247.
func recorded(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func decoded(t *testing.T, body string) *anthropic.Request {
	t.Helper()
	r, err := anthropic.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestStreamAndItsFallbackAreOneQuestion(t *testing.T) {
	stream, fallback := recorded(t, "stream"), recorded(t, "fallback")
	if stream == fallback {
		t.Fatal("the recordings are the same")
	}
	want := Digest(decoded(t, stream))
	for name, body := range map[string]string{
		"fallback":               fallback,
		"without stream":         strings.Replace(stream, `,"stream":true`, "", 1),
		"another max_tokens":     strings.Replace(fallback, `"max_tokens":32000`, `"max_tokens":21333`, 1),
		"another thinking":       strings.Replace(fallback, `{"type":"adaptive"}`, `{"type":"enabled","budget_tokens":21332}`, 1),
		"members in other order": strings.Replace(strings.Replace(stream, `{"model":"chatgpt-main",`, "{", 1), `"stream":true}`, `"stream":true,"model":"chatgpt-main"}`, 1),
	} {
		if body == stream && name != "fallback" {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if got := Digest(decoded(t, body)); got != want {
			t.Errorf("%s has another digest", name)
		}
	}
}

func TestDifferentQuestionsHaveDifferentDigests(t *testing.T) {
	base := recorded(t, "results")
	seen := map[string]string{Digest(decoded(t, base)): "itself"}
	for name, change := range map[string][2]string{
		"another result":        {"hello file", "hello fire"},
		"another id":            {`"tool_use_id":"toolu_6b"`, `"tool_use_id":"toolu_6c"`},
		"one result is error":   {`"tool_use_id":"toolu_6b","type":"tool_result"`, `"tool_use_id":"toolu_6b","type":"tool_result","is_error":true`},
		"another model":         {`"model":"chatgpt-main"`, `"model":"other"`},
		"another system prompt": {"Date: 2026-11-30", "Date: 2026-12-01"},
		"another tool":          {`"Reads a file."`, `"Reads files."`},
		"another effort":        {`"effort":"high"`, `"effort":"low"`},
		"another session":       {"00000000-0000-4000", "00000000-0000-4001"},
		"a new member":          {`"stream":true`, `"stream":true,"temperature":0`},
		"large integers":        {`"stream":true`, `"stream":true,"n":12345678901234567890`},
		"larger integers":       {`"stream":true`, `"stream":true,"n":12345678901234567891`},
	} {
		body := strings.Replace(base, change[0], change[1], 1)
		if body == base {
			t.Fatalf("%s: nothing was replaced", name)
		}
		digest := Digest(decoded(t, body))
		if twin, ok := seen[digest]; ok {
			t.Errorf("%s has the digest of %s", name, twin)
		}
		seen[digest] = name
	}
}

func TestFieldsCannotMoveIntoEachOther(t *testing.T) {
	a := &anthropic.Request{Members: []anthropic.Member{{Name: "ab", Value: []byte("1")}}}
	b := &anthropic.Request{Members: []anthropic.Member{{Name: "a", Value: []byte("b1")}}}
	if Digest(a) == Digest(b) {
		t.Error("a name and a value ran into each other")
	}
}

func TestTailOfRecordedRequests(t *testing.T) {
	prompt := "The request:\n/compact hello <system-reminder>x</system-reminder>\n"
	ids := []turn.ToolUseID{"toolu_6a", "toolu_6b"}
	for _, c := range []struct {
		name, prompt string
		kind         link.TailKind
		ids          []turn.ToolUseID
	}{
		{"first", prompt, link.TailPrompt, nil},
		{"results", prompt, link.TailResults, ids},
		{"resumed", "The request:\nsecond", link.TailPrompt, nil},
		{"resumed_after_kill", "The request:\nsecond", link.TailPrompt, nil},
		{"nudge", "The request:\nempty", link.TailOther, nil},
		{"nudge", "The request:\nempty\n", link.TailOther, nil},
		{"compaction", "The request:\nsecond", link.TailOther, nil},
		{"first", strings.TrimSpace(prompt), link.TailOther, nil},
		{"resumed", prompt, link.TailOther, nil},
	} {
		tail := Classify(decoded(t, recorded(t, c.name)), Expect{Model: "chatgpt-main", Prompt: c.prompt, Tools: []string{"mcp__deckhand__Read"}})
		if tail.Kind != c.kind || len(tail.ToolUseIDs) != len(c.ids) {
			t.Errorf("%s with %q: %+v", c.name, c.prompt, tail)
			continue
		}
		for i := range c.ids {
			if tail.ToolUseIDs[i] != c.ids[i] {
				t.Errorf("%s: %+v", c.name, tail)
			}
		}
		if (tail.Summary != "") != (c.kind == link.TailOther) {
			t.Errorf("%s: summary %q", c.name, tail.Summary)
		}
	}
}

func TestTailOfMadeUpRequests(t *testing.T) {
	const (
		prompt   = `{"type":"text","text":"P"}`
		reminder = `{"type":"text","text":"<system-reminder>date</system-reminder>\n\n"}`
		result   = `{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}`
	)
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	for name, c := range map[string]struct {
		messages, head string
		kind           link.TailKind
	}{
		"prompt as a string":            {`{"role":"user","content":"P"}`, "", link.TailPrompt},
		"prompt between reminders":      {user(reminder, prompt, reminder), "", link.TailPrompt},
		"two reminders in one block":    {user(`{"type":"text","text":"<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>"}`, prompt), "", link.TailPrompt},
		"words behind a reminder":       {user(`{"type":"text","text":"<system-reminder>a</system-reminder> do this"}`, prompt), "", link.TailOther},
		"words between reminders":       {user(`{"type":"text","text":"<system-reminder>a</system-reminder> do <system-reminder>b</system-reminder>"}`, prompt), "", link.TailOther},
		"prompt twice":                  {user(prompt, prompt), "", link.TailOther},
		"prompt and more":               {user(prompt, `{"type":"text","text":"and more"}`), "", link.TailOther},
		"prompt and an image":           {user(prompt, `{"type":"image","source":{}}`), "", link.TailOther},
		"result with a reminder":        {user(result, reminder), "", link.TailResults},
		"result and the prompt":         {user(result, prompt), "", link.TailOther},
		"prompt and a result":           {user(prompt, result), "", link.TailOther},
		"result without an id":          {user(`{"type":"tool_result","tool_use_id":""}`), "", link.TailOther},
		"empty system message":          {user(prompt) + `,{"role":"system","content":""}`, "", link.TailPrompt},
		"system message of a reminder":  {user(result) + `,{"role":"system","content":[` + reminder + `]}`, "", link.TailResults},
		"system message with an order":  {user(result) + `,{"role":"system","content":"Respond with text only."}`, "", link.TailOther},
		"assistant last":                {user(prompt) + `,{"role":"assistant","content":"{"}`, "", link.TailOther},
		"only reminders":                {user(reminder), "", link.TailOther},
		"only a system message":         {`{"role":"system","content":""}`, "", link.TailOther},
		"side call without tools":       {user(prompt), `"tools":[],`, link.TailOther},
		"side call with other tools":    {user(prompt), `"tools":[{"name":"title"}],`, link.TailOther},
		"side call of another model":    {user(prompt), `"model":"small",`, link.TailOther},
		"one tool more than ours":       {user(prompt), `"tools":[{"name":"web"},{"name":"mcp__deckhand__Read"}],`, link.TailPrompt},
		"an unknown block in the tail":  {user(result, `{"type":"new_thing"}`), "", link.TailOther},
		"an unknown block in the past":  {user(`{"type":"new_thing"}`) + "," + user(prompt), "", link.TailPrompt},
		"the prompt only in the past":   {user(prompt) + `,` + user(`{"type":"text","text":"Q"}`), "", link.TailOther},
		"a reminder that is not closed": {user(`{"type":"text","text":"<system-reminder>a"}`, prompt), "", link.TailOther},
	} {
		head := `"model":"m","tools":[{"name":"mcp__deckhand__Read"}],`
		switch {
		case strings.HasPrefix(c.head, `"tools"`):
			head = `"model":"m",` + c.head
		case c.head != "":
			head = c.head + `"tools":[{"name":"mcp__deckhand__Read"}],`
		}
		r := decoded(t, "{"+head+`"messages":[`+c.messages+"]}")
		tail := Classify(r, Expect{Model: "m", Prompt: "P", Tools: []string{"mcp__deckhand__Read"}})
		if tail.Kind != c.kind {
			t.Errorf("%s: %+v, want %s", name, tail, c.kind)
		}
	}
}

func TestSummaryHoldsNoContents(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"SECRET role","content":[{"type":"SECRET/type","text":"SECRET"},{"type":"text","text":"SECRET"}]}]}`
	tail := Classify(decoded(t, body), Expect{Model: "m", Prompt: "P"})
	if tail.Kind != link.TailOther || strings.Contains(tail.Summary, "SECRET") {
		t.Errorf("tail: %+v", tail)
	}
}
