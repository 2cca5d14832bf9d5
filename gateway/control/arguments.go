package control

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"deckhand/gateway/turn"
)

// decode reads the arguments of a call into args, a pointer to a struct with a
// field for each property of the schema. It returns a *turn.Refusal that names
// the argument and what is allowed.
//
// Beyond the schema it refuses keys that occur twice, invalid UTF-8, half
// surrogate pairs, NUL characters and numbers that are no exact integers below
// 2^53, and null, which is not the same as leaving an argument out. The
// arguments of tool_calls are only checked for keys and UTF-8: they are a
// matter of the tool that is called.
func (s *schema) decode(raw jsontext.Value, args any) error {
	if raw == nil {
		raw = jsontext.Value("{}")
	}
	if k := raw.Kind(); k != '{' {
		return turn.Refuse(turn.InvalidArguments, "arguments must be a JSON object, not %s", kindName(k))
	}
	if err := strictly(raw); err != nil {
		return turn.Refuse(turn.InvalidArguments, "%s", strictSentence(err))
	}
	r := reader{dec: jsontext.NewDecoder(bytes.NewReader(raw))}
	tree, err := r.value(nil)
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(tree); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return fmt.Errorf("validate arguments: %w", err)
		}
		return s.shape.refusal(invalid)
	}
	if err := json.Unmarshal(raw, args); err != nil {
		return fmt.Errorf("decode arguments: %w", err)
	}
	return nil
}

// reader turns a value into the tree that the schema is checked against.
type reader struct{ dec *jsontext.Decoder }

// maxDepth is deeper than any schema goes; what lies below is skipped.
const maxDepth = 6

func (r *reader) value(path []string) (any, error) {
	kind := r.dec.PeekKind()
	if (kind == '{' || kind == '[') && (len(path) >= maxDepth || isForwarded(path)) {
		if err := r.dec.SkipValue(); err != nil {
			return nil, fmt.Errorf("skip value: %w", err)
		}
		if kind == '[' {
			return []any{}, nil
		}
		return map[string]any{}, nil
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	switch kind {
	case '{':
		return r.object(path)
	case '[':
		return r.array(path)
	case '"':
		s := token.String()
		if strings.ContainsRune(s, 0) {
			return nil, turn.Refuse(turn.InvalidArguments, "%s holds a NUL character, which no argument may", argument(path))
		}
		return s, nil
	case '0':
		return number(path, token.String())
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func (r *reader) object(path []string) (any, error) {
	out := map[string]any{}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("read name: %w", err)
		}
		key := name.String()
		if out[key], err = r.value(append(path, key)); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.ReadToken()
	return out, err
}

func (r *reader) array(path []string) (any, error) {
	out := []any{}
	for r.dec.PeekKind() != ']' {
		v, err := r.value(append(path, strconv.Itoa(len(out))))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := r.dec.ReadToken()
	return out, err
}

// isForwarded names the one place whose contents belong to another schema.
func isForwarded(path []string) bool {
	return len(path) == 3 && path[0] == "tool_calls" && path[2] == "arguments"
}

// number accepts what a float64 holds exactly: 30.0 is 30, 1e400 is nothing.
func number(path []string, literal string) (any, error) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(f) > turn.MaxInteger {
		return nil, turn.Refuse(turn.InvalidArguments, "%s is a number beyond 2^53-1, which JSON does not carry exactly", argument(path))
	}
	return f, nil
}
