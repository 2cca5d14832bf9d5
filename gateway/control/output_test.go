package control

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// TestOutputSchemaDescribesTheSnapshotCompletely walks the Go type and the
// schema side by side: same names, same types, null where a pointer can be
// nil, required where the field is never left out.
func TestOutputSchemaDescribesTheSnapshotCompletely(t *testing.T) {
	describes(t, "answer", readNode(t, "answer"), reflect.TypeFor[session.Snapshot]())
}

func describes(t *testing.T, path string, n node, typ reflect.Type) {
	t.Helper()
	var fields, required []string
	for f := range typ.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
		optional := strings.Contains(opts, "omit")
		if !optional {
			required = append(required, name)
		}
		p := n.child("properties").child(name)
		if p == nil {
			t.Errorf("%s.%s is not in the schema", path, name)
			continue
		}
		kind, nullable := jsonType(f.Type)
		want := any(kind)
		if nullable && !optional {
			want = []any{kind, "null"}
		}
		if !reflect.DeepEqual(p["type"], want) {
			t.Errorf("%s.%s: type %v, want %v", path, name, p["type"], want)
		}
		elem := f.Type
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Slice && kind == "array" {
			p, elem = p.child("items"), elem.Elem()
		}
		if elem.Kind() == reflect.Struct && elem != reflect.TypeFor[time.Time]() {
			describes(t, path+"."+name, p, elem)
		}
	}
	slices.Sort(fields)
	slices.Sort(required)
	if got := slices.Sorted(maps.Keys(n.child("properties"))); !slices.Equal(got, fields) {
		t.Errorf("%s: schema has %q, the type %q", path, got, fields)
	}
	got := n.list("required")
	slices.Sort(got)
	if !slices.Equal(got, required) {
		t.Errorf("%s: requires %q, want %q", path, got, required)
	}
	if n["additionalProperties"] != nil {
		t.Errorf("%s is closed to later additions", path)
	}
}

func jsonType(typ reflect.Type) (kind string, nullable bool) {
	if typ.Kind() == reflect.Pointer {
		kind, _ = jsonType(typ.Elem())
		return kind, true
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return "string", false
	case typ == reflect.TypeFor[json.RawMessage]():
		return "object", false
	}
	switch typ.Kind() {
	case reflect.Bool:
		return "boolean", false
	case reflect.String:
		return "string", false
	case reflect.Slice:
		return "array", false
	case reflect.Struct:
		return "object", false
	}
	return "integer", false
}

func TestOutputEnumsAreTheSetsOfTheRules(t *testing.T) {
	p := readNode(t, "answer").child("properties")
	for name, want := range map[string][]string{
		"status":             strs(turn.Statuses()),
		"capability_profile": strs(turn.Profiles()),
		"subagent_policy":    {string(turn.NoSubagent), string(turn.DeepSeekExplicit)},
	} {
		if got := p.child(name).list("enum"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	outcomes := strs([]turn.Outcome{turn.OK, turn.Error, turn.OutcomeNotExecuted, turn.OutcomeInterrupted, turn.OutcomeCancelled})
	if got := p.child("pending_turn").child("properties").child("results").child("items").child("properties").child("outcome").list("enum"); !slices.Equal(got, outcomes) {
		t.Errorf("outcomes: %q", got)
	}
}

func TestValidateAnswerAcceptsTheStateAndRefusesWhatIsNone(t *testing.T) {
	full := sample()
	full.LaunchError = &session.LaunchError{Code: turn.LaunchFailed, Message: "m"}
	code := turn.NotFound
	res := session.Result{ToolCallID: "toolu_1", ActionID: "act_1", Name: "Read", Outcome: turn.Error, Receipt: session.ReceiptMark{ReceiptID: "rec_1", Code: &code, FinishedAt: at, Attempts: 1}}
	full.PendingTurn.Results = []session.Result{res}
	full.PendingTurn.Skills = []session.SkillBody{{SkillID: "s", Body: "b"}}
	full.PendingTurn.Notices = []string{"n"}
	full.CurrentRun.Running = []session.Running{{ActionID: "act_2", Name: "Read"}}
	full.LastResult = &session.LastResult{RunID: "run_0", Outcome: "completed", FinishedAt: at, Changes: &session.Changes{Files: []session.FileChange{{Path: "a"}}}}
	full.StopRequest = &session.StopMark{RequestID: "r", By: "user", At: at}
	full.Terminal = &session.Terminal{Outcome: "stopped", At: at}
	full.Skills = []session.SkillMark{{SkillID: "s"}}
	full.DeepSeekRoute = &session.DeepSeekRoute{}
	full.DeepSeekSessions = []session.DeepSeekState{{StartedAt: at}}
	full.Approval = &session.Approval{State: "pending", Generation: 1, ExpiresAt: at}
	full.History = []session.HistoryTurn{{RunID: "run_0", Sequence: 1, Results: []session.Result{res}}}
	encode := func(s session.Snapshot) []byte {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, s := range []session.Snapshot{sample(), full} {
		if err := ValidateAnswer(encode(s)); err != nil {
			t.Error(err)
		}
	}
	for name, spoil := range map[string]func(*session.Snapshot){
		"unknown status":  func(s *session.Snapshot) { s.Status = "asleep" },
		"nil list":        func(s *session.Snapshot) { s.Skills = nil },
		"nil results":     func(s *session.Snapshot) { s.PendingTurn = &session.PendingTurn{TurnID: "t", OpenedAt: at} },
		"another route":   func(s *session.Snapshot) { s.Route = "claude" },
		"another kind":    func(s *session.Snapshot) { s.Workspace.Kind = "" },
		"unknown outcome": func(s *session.Snapshot) { s.Terminal = &session.Terminal{Outcome: "gone", At: at} },
	} {
		s := sample()
		spoil(&s)
		if ValidateAnswer(encode(s)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if b := strings.Replace(string(encode(sample())), `"lease_expires_at":"2026-`, `"lease_expires_at":"tomorrow-`, 1); !strings.Contains(b, "tomorrow") || ValidateAnswer([]byte(b)) == nil {
		t.Error("a time that is none is accepted")
	}
	for _, b := range []string{"", "{}", "[]", "null", `{"native_session_id":1}`} {
		if ValidateAnswer([]byte(b)) == nil {
			t.Errorf("%q is accepted", b)
		}
	}
}
