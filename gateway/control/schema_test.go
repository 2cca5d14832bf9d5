package control

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/turn"
)

// node is a schema as plain JSON.
type node map[string]any

func readNode(t *testing.T, name string) node {
	t.Helper()
	var n node
	if err := json.Unmarshal(mustRead("schema/"+name+".json"), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n node) child(name string) node {
	c, _ := n[name].(map[string]any)
	return c
}

func (n node) list(name string) []string {
	var out []string
	all, _ := n[name].([]any)
	for _, v := range all {
		out = append(out, v.(string))
	}
	return out
}

// each visits a schema and all schemas below it.
func (n node) each(path string, f func(string, node)) {
	f(path, n)
	for name := range n.child("properties") {
		n.child("properties").child(name).each(path+"."+name, f)
	}
	if n["items"] != nil {
		n.child("items").each(path+"[]", f)
	}
}

var argsOf = map[string]reflect.Type{
	"start": reflect.TypeFor[startArgs](), "continue": reflect.TypeFor[continueArgs](), "recover": reflect.TypeFor[recoverArgs](),
	"reply_and_wait": reflect.TypeFor[replyArgs](), "status": reflect.TypeFor[statusArgs](), "stop": reflect.TypeFor[stopArgs](),
}

func TestThereAreExactlySixTools(t *testing.T) {
	want := []string{"native_session_start", "native_session_continue", "native_session_recover", "native_session_reply_and_wait", "native_session_status", "native_session_stop"}
	var got []string
	for _, tool := range allTools() {
		got = append(got, tool.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAnnotationsAreAllSetAndAsAgreed(t *testing.T) {
	want := map[string]hints{
		"native_session_status":         {readOnly: true, idempotent: true},
		"native_session_start":          {idempotent: true},
		"native_session_continue":       {idempotent: true},
		"native_session_recover":        {idempotent: true},
		"native_session_reply_and_wait": {destructive: true, idempotent: true},
		"native_session_stop":           {destructive: true, idempotent: true},
	}
	for _, tool := range allTools() {
		raw, err := json.Marshal(tool.wire())
		if err != nil {
			t.Fatal(err)
		}
		var served struct{ Annotations map[string]bool }
		if err := json.Unmarshal(raw, &served); err != nil {
			t.Fatal(err)
		}
		h := want[tool.name]
		expect := map[string]bool{"readOnlyHint": h.readOnly, "destructiveHint": h.destructive, "idempotentHint": h.idempotent, "openWorldHint": false}
		if !maps.Equal(served.Annotations, expect) {
			t.Errorf("%s: %v", tool.name, served.Annotations)
		}
	}
}

func TestRequiredInputsAreThoseOfTheContract(t *testing.T) {
	for tool, want := range map[string][]string{
		"start":          {"prompt", "working_directory", "idempotency_key"},
		"continue":       {"native_session_id", "lease_id", "prompt", "idempotency_key"},
		"recover":        {"native_session_id", "recovery_token", "recovery_id"},
		"reply_and_wait": {"native_session_id", "lease_id", "turn_id", "reply_id"},
		"status":         {"native_session_id", "lease_id"},
		"stop":           {"native_session_id", "lease_id", "request_id"},
	} {
		if got := readNode(t, tool).list("required"); !slices.Equal(got, want) {
			t.Errorf("%s: %q", tool, got)
		}
	}
}

// Hosts choke on references and on choices at the root, and a closed object is
// what makes an unknown argument an error.
func TestInputSchemasAreFlatClosedAndDescribed(t *testing.T) {
	for tool := range argsOf {
		readNode(t, tool).each(tool, func(path string, n node) {
			for _, key := range []string{"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "pattern", "format"} {
				if n[key] != nil {
					t.Errorf("%s has %s", path, key)
				}
			}
			if path != tool && !strings.HasSuffix(path, "[]") && n["description"] == nil {
				t.Errorf("%s is not described", path)
			}
			if kind, ok := n["type"].(string); !ok {
				t.Errorf("%s has no single type", path)
			} else if kind == "object" {
				if n["properties"] == nil {
					t.Errorf("%s has no properties", path)
				}
				if open := n["additionalProperties"]; open != false && path != "reply_and_wait.tool_calls[].arguments" {
					t.Errorf("%s: additionalProperties %v", path, open)
				}
			} else if kind == "string" && n["enum"] == nil && n["maxLength"] == nil {
				t.Errorf("%s has no longest length", path)
			}
		})
	}
}

func TestArgumentStructsHaveTheFieldsOfTheirSchemas(t *testing.T) {
	for tool, typ := range argsOf {
		same(t, tool, readNode(t, tool), typ)
	}
}

// same compares the properties of a schema with the fields of a struct.
func same(t *testing.T, path string, n node, typ reflect.Type) {
	t.Helper()
	var fields []string
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
		p := n.child("properties").child(name)
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			same(t, path+"."+name, p.child("items"), f.Type.Elem())
		}
	}
	slices.Sort(fields)
	if got := slices.Sorted(maps.Keys(n.child("properties"))); !slices.Equal(got, fields) {
		t.Errorf("%s: schema %q, struct %q", path, got, fields)
	}
}

func TestLimitsAndDefaultsAreThoseOfTheContract(t *testing.T) {
	number := func(n node, key string) int { f, _ := n[key].(float64); return int(f) }
	for tool := range argsOf {
		for name := range readNode(t, tool).child("properties") {
			p := readNode(t, tool).child("properties").child(name)
			least, most := number(p, "minLength"), number(p, "maxLength")
			switch name {
			case "idempotency_key", "reply_id", "recovery_id", "request_id":
				want := turn.MinKey
				if tool == "start" {
					want = turn.MinStartKey
				}
				if least != want || most != turn.MaxKey {
					t.Errorf("%s.%s: %d to %d", tool, name, least, most)
				}
			case "prompt":
				if least != 1 || most != turn.MaxPrompt {
					t.Errorf("%s.%s: %d to %d", tool, name, least, most)
				}
			case "text":
				if most != turn.MaxReply {
					t.Errorf("%s.%s: %d", tool, name, most)
				}
			case "session_label":
				if most != turn.MaxLabel {
					t.Errorf("%s.%s: %d", tool, name, most)
				}
			case "reason":
				if most != turn.MaxReason {
					t.Errorf("%s.%s: %d", tool, name, most)
				}
			case "tool_calls":
				if number(p, "maxItems") != turn.MaxCallsPerReply {
					t.Errorf("%s.%s: %v", tool, name, p["maxItems"])
				}
			case "skill_contexts":
				if number(p, "maxItems") != turn.MaxSkills {
					t.Errorf("%s.%s: %v", tool, name, p["maxItems"])
				}
			case "wait_seconds":
				want := map[string]int{"start": 30, "continue": 30, "reply_and_wait": 30}[tool]
				if p["default"] == nil || number(p, "default") != want || number(p, "minimum") != 0 || number(p, "maximum") != int(maxWait/time.Second) {
					t.Errorf("%s.%s: %v", tool, name, p)
				}
			}
		}
	}
	start := readNode(t, "start").child("properties")
	if p := start.child("capability_profile"); !slices.Equal(p.list("enum"), strs(turn.Profiles())) || p["default"] != string(turn.ReadOnly) {
		t.Errorf("%v", p)
	}
	if p := start.child("subagent_policy"); !slices.Equal(p.list("enum"), []string{string(turn.NoSubagent), string(turn.DeepSeekExplicit)}) || p["default"] != string(turn.NoSubagent) {
		t.Errorf("%v", p)
	}
}

func strs[S ~string](in []S) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

// TestNoArgumentChoosesAModel: there is one brain, and nobody can name another.
func TestNoArgumentChoosesAModel(t *testing.T) {
	for tool := range argsOf {
		readNode(t, tool).each(tool, func(path string, n node) {
			for name := range n.child("properties") {
				if regexp.MustCompile(`(?i)model|provider|endpoint|api|url|fallback`).MatchString(name) {
					t.Errorf("%s.%s", path, name)
				}
			}
		})
	}
}

// imperatives are what makes ChatGPT show a "Suspicious Instruction" card.
var imperatives = regexp.MustCompile(`(?i)\b(you|your|please|must|should|always|never|do not|don't|immediately|without asking|make sure|be sure|remember|ensure|ignore|retry|again immediately|call this|use this|keep calling|continue until)\b`)

// commands are sentences that begin with a verb's base form.
var commands = regexp.MustCompile(`(?:^|[.:;!?]\s+|\n\s*-?\s*)(Use|Call|Send|Pass|Choose|Set|Provide|Give|Take|Read|Wait|Reply|Answer|Repeat|Stop|Start|Continue|Keep|Include|Specify|Submit|Return|Leave|Try|Check|Ask|Tell|Do|Go|Get|Note)\b[^,/]*\s(the|a|an|this|it|to|with|only|native_\w+)\b`)

func TestDescriptionsStateAndDoNotCommand(t *testing.T) {
	check := func(where, s string) {
		if m := imperatives.FindString(s); m != "" {
			t.Errorf("%s says %q", where, m)
		}
		if m := commands.FindString(s); m != "" {
			t.Errorf("%s commands: %q", where, m)
		}
	}
	for _, tool := range allTools() {
		check(tool.name, tool.description)
		if n := len([]rune(tool.description)); n < 100 || n > 1500 {
			t.Errorf("%s: description of %d characters", tool.name, n)
		}
		if len(tool.name) > 64 {
			t.Errorf("%s is too long a name", tool.name)
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(argsOf)), "answer") {
		readNode(t, name).each(name, func(path string, n node) {
			s, _ := n["description"].(string)
			check(path, s)
		})
	}
	for _, s := range []string{"You must wait.", "Reads. Call native_session_stop.", "Retry the identical call.", "Send the reply.", "Do it without asking the user.", "Use the tool."} {
		if !imperatives.MatchString(s) && !commands.MatchString(s) {
			t.Errorf("the check lets %q pass", s)
		}
	}
}
