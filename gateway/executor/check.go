package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"deckhand/gateway/turn"
)

// Check decides on a call before anything of it is authorised: the tool is one
// of the session's and available, the arguments are strict JSON, follow the
// schema, and make sense together. It returns the call with its arguments in
// canonical form (RFC 8785). Every error is a *turn.Refusal that names the
// argument.
func (e *Executor) Check(scope Scope, name string, raw json.RawMessage) (turn.ToolCall, error) {
	if err := e.admit(scope, name); err != nil {
		return turn.ToolCall{}, err
	}
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	doc, err := e.examine(name, raw)
	if err != nil {
		return turn.ToolCall{}, err
	}
	if err := checkSense(name, doc); err != nil {
		return turn.ToolCall{}, err
	}
	canonical := jsontext.Value(slices.Clone(raw))
	if err := canonical.Canonicalize(); err != nil {
		return turn.ToolCall{}, turn.RefuseFor(turn.InvalidArguments, err, "the arguments have no canonical form")
	}
	return turn.ToolCall{Name: name, Arguments: json.RawMessage(canonical)}, nil
}

// admit refuses a tool that the session does not have or that cannot be used.
func (e *Executor) admit(scope Scope, name string) error {
	tools := e.Tools(scope.Profile, scope.Subagent)
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return turn.Refuse(turn.ProfileViolation, "%s is not a tool of this session; its tools are %s", showName(clip(name, 80)), usableNames(tools))
	}
	if !tools[i].Available {
		return turn.Refuse(turn.ToolUnavailable, "%s cannot be used on this gateway yet; %s can", name, usableNames(tools))
	}
	return nil
}

// examine refuses arguments that are not strict JSON or do not follow the
// schema. They may be long, so they are read once, and decode fills the
// arguments of a tool from what was read.
func (e *Executor) examine(name string, raw []byte) (document, error) {
	doc, err := readStrict(raw)
	if err != nil {
		return nil, err
	}
	return doc, e.checkSchema(name, doc)
}

// usableNames lists the tools that can be called now.
func usableNames(tools []Tool) string {
	var names []string
	for _, t := range tools {
		if t.Available {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

// badArgument makes the refusal for one argument; name may be "".
func badArgument(name, format string, args ...any) *turn.Refusal {
	detail := fmt.Sprintf(format, args...)
	if name != "" {
		detail = name + ": " + detail
	}
	return &turn.Refusal{Code: turn.InvalidArguments, Detail: detail}
}

func compileSchemas() (map[string]*jsonschema.Schema, error) {
	schemas := map[string]*jsonschema.Schema{}
	for _, t := range catalog {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.InputSchema))
		if err != nil {
			return nil, fmt.Errorf("parse schema of %s: %w", t.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool:///"+t.Name, doc); err != nil {
			return nil, fmt.Errorf("add schema of %s: %w", t.Name, err)
		}
		if schemas[t.Name], err = c.Compile("tool:///" + t.Name); err != nil {
			return nil, fmt.Errorf("compile schema of %s: %w", t.Name, err)
		}
	}
	return schemas, nil
}

var english = message.NewPrinter(language.English)

func (e *Executor) checkSchema(name string, doc document) error {
	err := e.schemas[name].Validate(map[string]any(doc))
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return turn.RefuseFor(turn.InvalidArguments, err, "the arguments do not follow the schema")
	}
	said := map[string]bool{}
	explain(invalid, said)
	all := slices.Sorted(maps.Keys(said))
	if len(all) > 5 {
		all = append(all[:5], fmt.Sprintf("and %d more", len(all)-5))
	}
	return badArgument("", "%s", strings.Join(all, "; "))
}

// explain collects one sentence for each thing that is wrong.
func explain(v *jsonschema.ValidationError, said map[string]bool) {
	if len(v.Causes) > 0 {
		for _, c := range v.Causes {
			explain(c, said)
		}
		return
	}
	at := ""
	if len(v.InstanceLocation) > 0 {
		at = showName(clip(v.InstanceLocation[0], 80)) + ": "
	}
	switch k := v.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, p := range k.Properties {
			said[showName(clip(p, 80))+": no such argument"] = true
		}
	case *kind.Required:
		for _, p := range k.Missing {
			said[p+": is missing"] = true
		}
	default:
		said[at+clip(v.ErrorKind.LocalizedString(english), 200)] = true
	}
}

// clip cuts s between characters to at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:cutBefore(s, n)] + "…"
}
