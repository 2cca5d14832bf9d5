package control

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// files are the schemas and the words of the six tools: contract, not code.
//
//go:embed schema/*.json text/*.md
var files embed.FS

// schema is one input schema: as served, compiled, and as words.
type schema struct {
	raw      json.RawMessage
	compiled *jsonschema.Schema
	shape    *shape
}

// loadSchema reads an embedded schema. It panics on a broken one, which no
// build with passing tests holds.
func loadSchema(name string) *schema {
	raw := mustRead("schema/" + name + ".json")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		panic(fmt.Errorf("read schema %s: %w", name, err))
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	// Without a scheme the name would be taken for a path below the working
	// directory, which may not exist any more.
	url := "schema:///" + name
	if err := c.AddResource(url, doc); err != nil {
		panic(fmt.Errorf("add schema %s: %w", name, err))
	}
	compiled, err := c.Compile(url)
	if err != nil {
		panic(fmt.Errorf("compile schema %s: %w", name, err))
	}
	s := &schema{compiled: compiled, shape: &shape{}}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		panic(fmt.Errorf("compact schema %s: %w", name, err))
	}
	s.raw = compact.Bytes()
	if err := json.Unmarshal(raw, s.shape); err != nil {
		panic(fmt.Errorf("read schema %s as words: %w", name, err))
	}
	return s
}

// answerSchema describes session.Snapshot; all six tools share it.
var answerSchema = sync.OnceValue(func() *schema { return loadSchema("answer") })

// ValidateAnswer checks the structured content of an answer against the output
// schema that all six tools declare.
func ValidateAnswer(answer []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if err := answerSchema().compiled.Validate(doc); err != nil {
		return fmt.Errorf("validate answer: %w", err)
	}
	return nil
}

// shape is the part of a schema that refusals put into words.
type shape struct {
	// Type is a name in every input schema.
	Type       any               `json:"type"`
	Enum       []string          `json:"enum"`
	MinLength  int               `json:"minLength"`
	MaxLength  int               `json:"maxLength"`
	Minimum    int               `json:"minimum"`
	Maximum    int               `json:"maximum"`
	MaxItems   int               `json:"maxItems"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"`
	Items      *shape            `json:"items"`
}

// names lists the properties, required ones first.
func (s *shape) names() []string {
	optional := []string{}
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			optional = append(optional, name)
		}
	}
	slices.Sort(optional)
	return append(slices.Clone(s.Required), optional...)
}

// at follows a path of names and indexes; nil if it leads out of the schema.
func (s *shape) at(path []string) *shape {
	for _, step := range path {
		if s == nil {
			return nil
		}
		if s.Items != nil {
			s = s.Items
			continue
		}
		s = s.Properties[step]
	}
	return s
}

// takes says what is allowed, as the object of "it takes".
func (s *shape) takes() string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Type == "string" && s.MinLength > 0:
		return fmt.Sprintf("text of %d to %d characters", s.MinLength, s.MaxLength)
	case s.Type == "string":
		return fmt.Sprintf("text of at most %d characters", s.MaxLength)
	case s.Type == "integer":
		return fmt.Sprintf("a whole number from %d to %d", s.Minimum, s.Maximum)
	case s.Type == "array":
		return fmt.Sprintf("a list of at most %d objects", s.MaxItems)
	case len(s.Properties) > 0:
		return "an object with " + strings.Join(s.names(), ", ")
	}
	return "an object"
}

func mustRead(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return b
}
