package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"deckhand/gateway/turn"
)

// maxSentences bounds how many faults one refusal names.
const maxSentences = 8

// refusal puts a schema violation into words: too_large if the only fault is a
// prompt or text that is too long, else invalid_arguments.
func (s *shape) refusal(err *jsonschema.ValidationError) *turn.Refusal {
	var said []string
	code := turn.TooLarge
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		if _, long := e.ErrorKind.(*kind.MaxLength); !long || !isBody(e.InstanceLocation) {
			code = turn.InvalidArguments
		}
		said = append(said, s.sentence(e))
	}
	walk(err)
	slices.Sort(said) // the validator goes through maps
	if n := len(said) - maxSentences; n > 0 {
		said = append(said[:maxSentences], fmt.Sprintf("and %d more", n))
	}
	return turn.Refuse(code, "%s", strings.Join(said, "; "))
}

// isBody names the arguments that are long by nature.
func isBody(path []string) bool {
	return len(path) == 1 && (path[0] == "prompt" || path[0] == "text")
}

// sentence says what is wrong with one argument and what is allowed.
func (s *shape) sentence(e *jsonschema.ValidationError) string {
	name, here := argument(e.InstanceLocation), s.at(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return fmt.Sprintf("%s lacks %s", object(e.InstanceLocation), strings.Join(k.Missing, ", "))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("%s has no %s; %s", object(e.InstanceLocation), quoteAll(k.Properties), "it takes "+strings.Join(here.names(), ", "))
	case *kind.Type:
		if k.Got == "null" {
			return fmt.Sprintf("%s is null; it is left out when there is nothing to say, else it takes %s", name, here.takes())
		}
		return fmt.Sprintf("%s is %s; it takes %s", name, withArticle(k.Got), here.takes())
	case *kind.MaxLength:
		return fmt.Sprintf("%s has %d characters; it takes %s", name, k.Got, here.takes())
	case *kind.MinLength:
		return fmt.Sprintf("%s has %d characters; it takes %s", name, k.Got, here.takes())
	case *kind.MaxItems:
		return fmt.Sprintf("%s has %d entries; it takes %s", name, k.Got, here.takes())
	}
	return fmt.Sprintf("%s is not allowed; it takes %s", name, here.takes())
}

// argument names a place in the arguments: tool_calls[1].name.
func argument(path []string) string {
	if len(path) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for i, step := range path {
		switch {
		case i == 0:
			b.WriteString(clip(step, 64))
		case strings.Trim(step, "0123456789") == "":
			b.WriteString("[" + step + "]")
		default:
			b.WriteString("." + clip(step, 64))
		}
	}
	return b.String()
}

// object names the object itself, for what is missing in it or too much.
func object(path []string) string {
	if len(path) == 0 {
		return "the call"
	}
	return argument(path)
}

// strictSentence says where the JSON itself is at fault.
func strictSentence(err error) string {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return "arguments are not JSON"
	}
	where := argument(slices.Collect(syntax.JSONPointer.Tokens()))
	switch {
	case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
		return where + " occurs twice; each key stands once"
	case strings.Contains(syntax.Err.Error(), "UTF-8"), strings.Contains(syntax.Err.Error(), "surrogate"):
		return where + " is not valid UTF-8 text"
	}
	return where + ": " + explain(err)
}

func quoteAll(names []string) string {
	slices.Sort(names)
	out := make([]string, 0, len(names))
	for i, n := range names {
		if i == maxSentences {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%q", clip(n, 64)))
	}
	return strings.Join(out, ", ")
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}

func withArticle(kind string) string {
	if strings.ContainsAny(kind[:1], "aeio") {
		return "an " + kind
	}
	return "a " + kind
}
