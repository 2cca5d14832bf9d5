package control

import (
	"bytes"
	"encoding/json"
	"testing"

	"deckhand/gateway/executor"
)

// TestSurfaceNeverChanges compares what clients keep copies of with the golden
// file: tools/list of both eras as it is on the wire, and the tools that
// pending_turn.tools can hold, available or not yet. ChatGPT freezes the list
// when the user connects: a later change of the file may add optional
// arguments and nothing else.
func TestSurfaceNeverChanges(t *testing.T) {
	r := newRig(t)
	list := func(params string) map[string]json.RawMessage {
		got := r.do("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":`+params+`}`)
		var out struct{ Result map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != 200 {
			t.Fatalf("%v: %d %s", err, got.status, got.body)
		}
		return out.Result
	}
	legacy, modern := list(`{}`), list(`{"_meta":`+modernMeta+`}`)
	// The list itself is the same in both eras; 2026-07-28 adds the members
	// that stay in modern: resultType, ttlMs, cacheScope and _meta.
	if !bytes.Equal(legacy["tools"], modern["tools"]) {
		t.Error("the two eras see different tools")
	}
	delete(modern, "tools")
	var names []struct{ Name string }
	if err := json.Unmarshal(legacy["tools"], &names); err != nil || len(names) != 6 {
		t.Fatalf("%v: %d tools", err, len(names))
	}
	type sessionTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var catalog []sessionTool
	for _, tool := range executor.Catalog() {
		catalog = append(catalog, sessionTool{tool.Name, tool.Description, tool.InputSchema})
	}
	var start struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(mustRead("schema/start.json"), &start); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{
		"tools/list 2025-11-25":          legacy,
		"tools/list 2026-07-28, besides": modern,
		"session tools":                  catalog,
		"skill_contexts":                 start.Properties["skill_contexts"],
	}); err != nil {
		t.Fatal(err)
	}
	golden(t, "surface.golden.json", out.String())
}
