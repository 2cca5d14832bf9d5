package executor

import (
	"encoding/json"
	"reflect"
	"testing"
)

// structOf is the struct that takes the arguments of a tool.
var structOf = map[string]any{
	ReadTool: readArguments{}, FindFilesTool: findArguments{}, SearchTextTool: searchArguments{}, RunCommandTool: commandArguments{},
	EditTool: editArguments{}, WriteTool: writeArguments{}, NotebookEditTool: notebookArguments{},
}

func TestEveryArgumentOfASchemaReachesItsField(t *testing.T) {
	samples := map[string]any{"string": "é\U0001F600", "boolean": true, "integer": json.Number("7"), "array": []any{"a", "b"}}
	want := map[string]any{"string": "é\U0001F600", "boolean": true, "integer": int64(7), "array": []string{"a", "b"}}
	for _, tool := range Catalog() {
		empty, ok := structOf[tool.Name]
		if !ok {
			continue // not built yet
		}
		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		doc := document{}
		for name, p := range schema.Properties {
			doc[name] = samples[p.Type]
		}
		got := reflect.New(reflect.TypeOf(empty)).Elem()
		if err := doc.fill(got); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if n := got.NumField(); n != len(doc) {
			t.Errorf("%s has %d fields for %d arguments", tool.Name, n, len(doc))
		}
		for i := range got.NumField() {
			name := got.Type().Field(i).Tag.Get("json")
			v := reflect.Indirect(got.Field(i))
			if v.CanInt() {
				v = reflect.ValueOf(v.Int())
			}
			if !reflect.DeepEqual(v.Interface(), want[schema.Properties[name].Type]) {
				t.Errorf("%s: %s is %v", tool.Name, name, v)
			}
		}
	}
}

func TestFillRefusesWhatNoSchemaLetsThrough(t *testing.T) {
	for name, doc := range map[string]document{
		"no such field": {"file_path": "x", "other": "y"}, "a number for text": {"file_path": json.Number("1")}, "text for a number": {"offset": "1"},
		"null": {"file_path": nil}, "a list for text": {"file_path": []any{"x"}}, "an object": {"file_path": map[string]any{}}, "true for a number": {"offset": true},
		"a number that is none": {"offset": json.Number("1.5")},
	} {
		if a, err := decode[readArguments](doc); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for name, doc := range map[string]document{"text for a list": {"argv": "x"}, "numbers in it": {"argv": []any{json.Number("1")}}} {
		if a, err := decode[commandArguments](doc); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
