package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
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
	if err := e.examine(name, raw); err != nil {
		return turn.ToolCall{}, err
	}
	if err := checkSense(name, raw); err != nil {
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
// schema. They may be long, so it goes through them once.
func (e *Executor) examine(name string, raw []byte) error {
	doc, err := readStrict(raw)
	if err != nil {
		return err
	}
	return e.checkSchema(name, doc)
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

// readStrict reads arguments as a schema wants them, and refuses what JSON
// libraries read in different ways: duplicate keys, invalid UTF-8, numbers that
// are no exact integers. NUL is refused because no path, text or argument can
// carry it to where it should go.
func readStrict(raw []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != '{' {
		return nil, badArgument("", "the arguments must be one JSON object")
	}
	doc, err := readValue(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, badArgument("", "the arguments must be one JSON object")
	}
	return doc, nil
}

// readValue reads one value.
func readValue(dec *jsontext.Decoder) (any, error) {
	tok, err := readToken(dec)
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		object := map[string]any{}
		for dec.PeekKind() != '}' {
			key, err := readToken(dec)
			if err != nil {
				return nil, err
			}
			name := key.String()
			if object[name], err = readValue(dec); err != nil {
				return nil, err
			}
		}
		_, err := readToken(dec)
		return object, err
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			item, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := readToken(dec)
		return list, err
	case '"':
		text := tok.String()
		if strings.IndexByte(text, 0) >= 0 {
			return nil, badArgument(argumentOf(dec.StackPointer()), "must not contain a NUL character")
		}
		return text, nil
	case '0':
		n, err := strconv.ParseInt(tok.String(), 10, 64)
		if err != nil || n > turn.MaxInteger || n < -turn.MaxInteger {
			return nil, badArgument(argumentOf(dec.StackPointer()), "must be a whole number up to %d, got %s", turn.MaxInteger, clip(tok.String(), 40))
		}
		return json.Number(tok.String()), nil
	case 't', 'f':
		return tok.Kind() == 't', nil
	}
	return nil, nil
}

// readToken reads one token, and says of an error which argument it is about.
func readToken(dec *jsontext.Decoder) (jsontext.Token, error) {
	tok, err := dec.ReadToken()
	if err == nil {
		return tok, nil
	}
	name := argumentOf(dec.StackPointer())
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		name = argumentOf(s.JSONPointer)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return tok, badArgument(name, "stands more than once")
	case strings.Contains(err.Error(), "UTF-8"), strings.Contains(err.Error(), "surrogate"):
		return tok, badArgument(name, "is not valid Unicode")
	}
	return tok, &turn.Refusal{Code: turn.InvalidArguments, Detail: strings.TrimPrefix(name+": not valid JSON", ": "), Cause: err}
}

// argumentOf returns the top-level key that a JSON pointer leads through.
func argumentOf(p jsontext.Pointer) string {
	for tok := range p.Tokens() {
		return showName(clip(tok, 80))
	}
	return ""
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

func (e *Executor) checkSchema(name string, doc any) error {
	err := e.schemas[name].Validate(doc)
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

// checkSense refuses arguments that are well-formed and cannot mean anything.
func checkSense(name string, raw []byte) error {
	switch name {
	case ReadTool:
		_, err := decode[readArguments](raw)
		return err
	case FindFilesTool:
		_, err := decode[findArguments](raw)
		return err
	case SearchTextTool:
		_, err := decode[searchArguments](raw)
		return err
	case RunCommandTool:
		_, err := decode[commandArguments](raw)
		return err
	case EditTool:
		_, err := decode[editArguments](raw)
		return err
	case WriteTool:
		_, err := decode[writeArguments](raw)
		return err
	case NotebookEditTool:
		_, err := decode[notebookArguments](raw)
		return err
	}
	return nil
}

// arguments are those of one tool; check refuses what the schema cannot.
type arguments interface{ check() error }

func decode[A arguments](raw []byte) (A, error) {
	var a A
	if err := jsonv2.Unmarshal(raw, &a, jsonv2.RejectUnknownMembers(true)); err != nil {
		return a, turn.RefuseFor(turn.InvalidArguments, err, "the arguments could not be read")
	}
	return a, a.check()
}

// clip cuts s between characters to at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:cutBefore(s, n)] + "…"
}
