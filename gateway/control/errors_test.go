package control

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// codes reads every Code of turn/refusal.go from its source, so that a new one
// cannot be forgotten here.
func codes(t *testing.T) []turn.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../turn/refusal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []turn.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			for _, v := range spec.Values {
				s, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, turn.Code(s))
			}
		}
		return true
	})
	if len(all) < 40 {
		t.Fatalf("only %d codes found", len(all))
	}
	return all
}

func TestEveryCodeHasWordsAndNoOtherDoes(t *testing.T) {
	all := codes(t)
	for _, c := range all {
		w, ok := table[c]
		if !ok || w.message == "" || w.hint == "" {
			t.Errorf("%s has no words", c)
		}
		for _, s := range []string{w.message, w.hint} {
			if len(s) > 200 || strings.TrimSpace(s) != s {
				t.Errorf("%s: %q", c, s)
			}
		}
	}
	if len(table) != len(all) {
		t.Errorf("%d rows for %d codes", len(table), len(all))
	}
}

func TestRefusalReachesTheModelAndItsCauseOnlyTheLog(t *testing.T) {
	r := newRig(t)
	for _, c := range codes(t) {
		r.engine.do = func(context.Context, any) (session.Snapshot, error) {
			return session.Snapshot{}, fmt.Errorf("reply: %w", turn.RefuseFor(c, errors.New("PRIVATE"), "the <public> detail"))
		}
		got := r.refused("native_session_status", good["status"])
		if got.Error.Code != c || got.Error.Detail != "the <public> detail" || got.Error.Message != table[c].message || got.Error.Hint != table[c].hint {
			t.Errorf("%s: %+v", c, got)
		}
	}
	if log := r.log.String(); !strings.Contains(log, "PRIVATE") || strings.Contains(log, "detail") {
		t.Errorf("the cause is not logged, or the detail is: %s", log)
	}
}

func TestUnknownErrorsBecomeInternalErrorWithNothingPrivate(t *testing.T) {
	for name, err := range map[string]error{
		"plain":             errors.New("open /private/path: PRIVATE"),
		"deadline":          context.DeadlineExceeded,
		"a code of nowhere": &turn.Refusal{Code: "made_up", Detail: "PRIVATE"},
		"replay":            &turn.Refusal{Code: turn.Replay, Detail: "PRIVATE"},
	} {
		r := newRig(t)
		r.engine.do = func(context.Context, any) (session.Snapshot, error) { return session.Snapshot{}, err }
		got := r.call("native_session_status", good["status"])
		text := got.Result.Content[0].Text
		if !got.Result.IsError || !strings.Contains(text, `"code":"internal_error"`) || strings.Contains(text, "PRIVATE") || strings.Contains(text, "made_up") {
			t.Errorf("%s: %s", name, text)
		}
		if !strings.Contains(r.log.String(), "call failed") || !strings.Contains(r.log.String(), "code=internal_error") {
			t.Errorf("%s: the log does not have it: %s", name, r.log)
		}
	}
}
