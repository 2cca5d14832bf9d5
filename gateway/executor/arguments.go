package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"deckhand/gateway/turn"
)

// document is the arguments of a call as they were read: strings, booleans,
// whole numbers as json.Number, lists and further objects by their names.
type document map[string]any

// readStrict reads arguments as a schema wants them, and refuses what JSON
// libraries read in different ways: duplicate keys, invalid UTF-8, numbers that
// are no exact integers. NUL is refused because no path, text or argument can
// carry it to where it should go.
func readStrict(raw []byte) (document, error) {
	// From a Buffer it is read in place, which anything else would be copied for.
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if dec.PeekKind() != '{' {
		return nil, badArgument("", "the arguments must be one JSON object")
	}
	value, err := readValue(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, badArgument("", "the arguments must be one JSON object")
	}
	doc, _ := value.(map[string]any)
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

// checkSense refuses arguments that are well-formed and cannot mean anything.
func checkSense(name string, doc document) error {
	switch name {
	case ReadTool:
		_, err := decode[readArguments](doc)
		return err
	case FindFilesTool:
		_, err := decode[findArguments](doc)
		return err
	case SearchTextTool:
		_, err := decode[searchArguments](doc)
		return err
	case RunCommandTool:
		_, err := decode[commandArguments](doc)
		return err
	case EditTool:
		_, err := decode[editArguments](doc)
		return err
	case WriteTool:
		_, err := decode[writeArguments](doc)
		return err
	case NotebookEditTool:
		_, err := decode[notebookArguments](doc)
		return err
	}
	return nil
}

// arguments are those of one tool; check refuses what the schema cannot.
type arguments interface{ check() error }

// decode fills the arguments of a tool from a document that follows its schema.
func decode[A arguments](doc document) (A, error) {
	var a A
	if err := doc.fill(reflect.ValueOf(&a).Elem()); err != nil {
		return a, turn.RefuseFor(turn.InvalidArguments, err, "the arguments could not be read")
	}
	return a, a.check()
}

// fill sets the fields of a struct to the members that their tags name. Every
// member has to have its field.
func (doc document) fill(to reflect.Value) error {
	filled := 0
	for i := range to.NumField() {
		name := to.Type().Field(i).Tag.Get("json")
		value, given := doc[name]
		if !given {
			continue
		}
		if !set(to.Field(i), value) {
			return fmt.Errorf("fill arguments: %s is a %T", name, value)
		}
		filled++
	}
	if filled < len(doc) {
		return errors.New("fill arguments: there are members without a field")
	}
	return nil
}

// set sets a field to a value of a document, if it is of that kind.
func set(field reflect.Value, value any) bool {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch v := value.(type) {
	case string:
		if field.Kind() != reflect.String {
			return false
		}
		field.SetString(v)
	case bool:
		if field.Kind() != reflect.Bool {
			return false
		}
		field.SetBool(v)
	case json.Number:
		n, err := v.Int64()
		if err != nil || !field.CanInt() || field.OverflowInt(n) {
			return false
		}
		field.SetInt(n)
	case []any:
		if field.Kind() != reflect.Slice {
			return false
		}
		field.Set(reflect.MakeSlice(field.Type(), len(v), len(v)))
		for i, item := range v {
			if !set(field.Index(i), item) {
				return false
			}
		}
	default:
		return false
	}
	return true
}
