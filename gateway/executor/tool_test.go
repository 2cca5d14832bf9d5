package executor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/turn"
)

func names(tools []Tool) []string {
	var n []string
	for _, t := range tools {
		n = append(n, t.Name)
	}
	return n
}

func TestCatalogHasEveryToolInItsOrder(t *testing.T) {
	want := []string{"Read", "FindFiles", "SearchText", "RunCommand", "Edit", "Write", "NotebookEdit", "deepseek_subagent_start", "deepseek_subagent_get", "deepseek_subagent_stop"}
	if d := cmp.Diff(want, names(Catalog())); d != "" {
		t.Error(d)
	}
}

// schema is the part of JSON Schema that tools may use.
type schema struct {
	Type                 string              `json:"type"`
	Properties           map[string]property `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties *bool               `json:"additionalProperties"`
}

type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description"`
	Enum        []string  `json:"enum"`
	Default     any       `json:"default"`
	Pattern     string    `json:"pattern"`
	Minimum     *int64    `json:"minimum"`
	Maximum     *int64    `json:"maximum"`
	MinLength   *int64    `json:"minLength"`
	MaxLength   *int64    `json:"maxLength"`
	MinItems    *int64    `json:"minItems"`
	MaxItems    *int64    `json:"maxItems"`
	Items       *property `json:"items"`
}

func TestSchemasAreFlatAndDescribed(t *testing.T) {
	if _, err := compileSchemas(); err != nil {
		t.Fatal(err)
	}
	for _, tool := range Catalog() {
		dec := json.NewDecoder(strings.NewReader(string(tool.InputSchema)))
		dec.DisallowUnknownFields() // no $ref, anyOf, oneOf, nested properties …
		var s schema
		if err := dec.Decode(&s); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if s.Type != "object" || s.Properties == nil || s.AdditionalProperties == nil || *s.AdditionalProperties {
			t.Errorf("%s: not a closed object with properties", tool.Name)
		}
		for _, r := range s.Required {
			if _, ok := s.Properties[r]; !ok {
				t.Errorf("%s: requires %s, which it does not have", tool.Name, r)
			}
		}
		for name, p := range s.Properties {
			at := tool.Name + "." + name
			if len(p.Description) < 15 {
				t.Errorf("%s: described by %q", at, p.Description)
			}
			switch p.Type {
			case "string", "boolean":
			case "integer":
				if p.Minimum == nil || p.Maximum == nil || *p.Maximum > turn.MaxInteger {
					t.Errorf("%s: an integer without bounds", at)
				}
			case "array":
				if p.Items == nil || p.Items.Type != "string" || p.MaxItems == nil {
					t.Errorf("%s: not a bounded list of strings", at)
				}
			default:
				t.Errorf("%s: type %q", at, p.Type)
			}
		}
		if n := len(tool.Description); n < 60 || n > 1500 {
			t.Errorf("%s: a description of %d bytes", tool.Name, n)
		}
	}
}

func TestArgumentNamesThatModelsKnow(t *testing.T) {
	for tool, want := range map[string]string{
		"Read": "file_path offset limit", "Edit": "file_path old_string new_string replace_all", "Write": "file_path content",
		"NotebookEdit": "notebook_path cell_id new_source cell_type edit_mode", "FindFiles": "directory pattern cursor limit",
		"SearchText": "directory text pattern ignore_case cursor limit", "RunCommand": "argv cwd timeout_seconds", "deepseek_subagent_start": "prompt tier",
	} {
		for _, c := range Catalog() {
			if c.Name != tool {
				continue
			}
			for arg := range strings.FieldsSeq(want) {
				if !strings.Contains(string(c.InputSchema), `"`+arg+`": {`) {
					t.Errorf("%s has no argument %s", tool, arg)
				}
			}
		}
	}
}

func TestToolsFollowTheProfile(t *testing.T) {
	e := newFixture(t).e
	read := []string{"Read", "FindFiles", "SearchText", "RunCommand"}
	write := append(read[:4:4], "Edit", "Write", "NotebookEdit")
	all := append(write[:7:7], "deepseek_subagent_start", "deepseek_subagent_get", "deepseek_subagent_stop")
	for _, c := range []struct {
		profile turn.Profile
		policy  turn.SubagentPolicy
		want    []string
	}{
		{turn.ReadOnly, turn.NoSubagent, read},
		{turn.ReadOnly, turn.DeepSeekExplicit, read},
		{turn.DirectWrite, turn.NoSubagent, write},
		{turn.DirectWrite, turn.DeepSeekExplicit, write},
		{turn.WorktreeWrite, turn.NoSubagent, write},
		{turn.WorktreeWrite, turn.DeepSeekExplicit, all},
		{"", "", read},
	} {
		if d := cmp.Diff(c.want, names(e.Tools(c.profile, c.policy))); d != "" {
			t.Errorf("%s, %s: %s", c.profile, c.policy, d)
		}
	}
}

func TestOnlyReadsAreRepeatable(t *testing.T) {
	for _, tool := range Catalog() {
		read := tool.Name == "Read" || tool.Name == "FindFiles" || tool.Name == "SearchText"
		available := read || Writes(tool.Name) || tool.Name == RunCommandTool
		if Repeatable(tool.Name) != read || tool.Available != available {
			t.Errorf("%s: repeatable is %v, available is %v", tool.Name, Repeatable(tool.Name), tool.Available)
		}
		if read && !tool.ReadOnly || Writes(tool.Name) && tool.ReadOnly {
			t.Errorf("%s: read-only is %v", tool.Name, tool.ReadOnly)
		}
	}
}
