package executor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// notebookLike is a notebook as Jupyter writes it, at the given indent.
func notebookLike(indent int, minor int, id bool) string {
	var cells []map[string]any
	for i, source := range [][]string{{"# Tïtle\n", "text"}, {"x = 1\n", "x"}, {"y"}} {
		c := map[string]any{"cell_type": "code", "metadata": map[string]any{}, "source": source, "outputs": []any{}, "execution_count": nil}
		switch i {
		case 0:
			c = map[string]any{"cell_type": "markdown", "metadata": map[string]any{}, "source": source}
		case 1:
			c["execution_count"] = 3
			c["outputs"] = []any{map[string]any{"output_type": "stream", "name": "stdout", "text": []string{"1\n"}}}
		}
		if id {
			c["id"] = fmt.Sprintf("id%d", i)
		}
		cells = append(cells, c)
	}
	n := map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": minor}
	raw, err := json.MarshalIndent(n, "", strings.Repeat(" ", indent))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// notebook runs one NotebookEdit and returns the file before and after.
func (f *fixture) notebook(raw string, a args) (r turn.Result, after string) {
	f.t.Helper()
	f.write("work/n.ipynb", raw)
	a["notebook_path"] = "n.ipynb"
	r = f.wrote("NotebookEdit", a, "work/n.ipynb")
	return r, f.read("work/n.ipynb")
}

func TestNotebookEdits(t *testing.T) {
	f := newFixture(t).writing()
	one := notebookLike(1, 5, true) + "\n"
	two := notebookLike(2, 5, true)
	tabs := strings.ReplaceAll(notebookLike(1, 5, true), "\n ", "\n\t")
	for name, c := range map[string]struct {
		raw  string
		a    args
		swap [][2]string // what becomes what
		says string
	}{
		"N01 replace, indent of 1": {one, args{"cell_id": "id1", "new_source": "z\nz\n"}, [][2]string{
			{"   \"execution_count\": 3,", "   \"execution_count\": null,"},
			{"\"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"1\\n\"\n     ]\n    }\n   ],", "\"outputs\": [],"},
			{"    \"x = 1\\n\",\n    \"x\"\n", "    \"z\\n\",\n    \"z\\n\"\n"},
		}, "cleared"},
		"N01 replace of markdown":            {one, args{"cell_id": "id0", "new_source": "ü\"\\\t"}, [][2]string{{"    \"# Tïtle\\n\",\n    \"text\"\n", "    \"ü\\\"\\\\\\t\"\n"}}, "Replaced"},
		"N01 replace by nothing":             {one, args{"cell_id": "id0", "new_source": ""}, [][2]string{{"[\n    \"# Tïtle\\n\",\n    \"text\"\n   ]", "[]"}}, "Replaced"},
		"N01 replace without stale outputs":  {one, args{"cell_id": "id2", "new_source": "w"}, [][2]string{{"    \"y\"\n", "    \"w\"\n"}}, "Replaced"},
		"N02 replace, indent of 2, no end":   {two, args{"cell_id": "id0", "new_source": "a\nb\nc"}, [][2]string{{"        \"# Tïtle\\n\",\n        \"text\"\n", "        \"a\\n\",\n        \"b\\n\",\n        \"c\"\n"}}, "Replaced"},
		"N02 replace, tabs":                  {tabs, args{"cell_id": "id2", "new_source": "a\nb"}, [][2]string{{"\"y\"\n", "\"a\\n\",\n\t   \"b\"\n"}}, "Replaced"},
		"N02 CRLF between values":            {strings.ReplaceAll(two, "\n", "\r\n"), args{"cell_id": "id2", "new_source": "a\nb"}, [][2]string{{"\"y\"\r\n", "\"a\\n\",\r\n        \"b\"\r\n"}}, "Replaced"},
		"N02 BOM":                            {bom + two, args{"cell_id": "id2", "new_source": "w"}, [][2]string{{"\"y\"", "\"w\""}}, "Replaced"},
		"a list that was empty":              {strings.Replace(two, "[\n        \"y\"\n      ]", "[]", 1), args{"cell_id": "id2", "new_source": "a\nb"}, [][2]string{{"\"source\": []", "\"source\": [\n        \"a\\n\",\n        \"b\"\n      ]"}}, "Replaced"},
		"a string stays one":                 {strings.Replace(two, "[\n        \"y\"\n      ]", "\"y\"", 1), args{"cell_id": "id2", "new_source": "a\nb"}, [][2]string{{"\"source\": \"y\"", "\"source\": \"a\\nb\""}}, "Replaced"},
		"N05 an id that looks like a place":  {strings.Replace(one, "\"id2\"", "\"cell-0\"", 1), args{"cell_id": "cell-0", "new_source": "w"}, [][2]string{{"\"y\"", "\"w\""}}, "cell 3 of 3"},
		"N11 escapes stay, new ones match":   {strings.ReplaceAll(one, "ï", `\u00ef`), args{"cell_id": "id2", "new_source": "é\U0001F600\u007f"}, [][2]string{{"\"y\"", `"\u00e9\ud83d\ude00\u007f"`}}, "Replaced"},
		"N11 an escape that is none":         {strings.ReplaceAll(one, "ï", `\\u00ef`), args{"cell_id": "id2", "new_source": "é"}, [][2]string{{"\"y\"", `"é"`}}, "Replaced"},
		"N13 NaN survives":                   {strings.Replace(one, "\"metadata\": {},\n \"nbformat\"", "\"metadata\": {\"a\": [NaN, Infinity, -Infinity, 1e-07, 123456789012345678901234567890, 1.0]},\n \"nbformat\"", 1), args{"cell_id": "id2", "new_source": "w"}, [][2]string{{"\"y\"", "\"w\""}}, "Replaced"},
		"CRLF inside a source is kept":       {strings.Replace(one, `"x = 1\n"`, `"x = 1\r\n"`, 1), args{"cell_id": "id1", "new_source": "a\nb"}, [][2]string{{"   \"execution_count\": 3,", "   \"execution_count\": null,"}, {"\"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"1\\n\"\n     ]\n    }\n   ],", "\"outputs\": [],"}, {`"x = 1\r\n",` + "\n    \"x\"", `"a\r\n",` + "\n    \"b\""}}, "CRLF"},
		"N09 delete the first":               {one, args{"cell_id": "id0", "edit_mode": "delete"}, [][2]string{{one[strings.Index(one, "{\n   \"cell_type\": \"markdown\""):strings.Index(one, "{\n   \"cell_type\": \"code\"")], ""}}, "SHA-256"},
		"N09 delete the last":                {one, args{"cell_id": "id2", "edit_mode": "delete"}, [][2]string{{one[strings.LastIndex(one, ",\n  {\n   \"cell_type\": \"code\""):strings.Index(one, "\n ],\n \"metadata\"")], ""}}, "SHA-256"},
		"the type, from code to markdown":    {one, args{"cell_id": "id2", "new_source": "y", "cell_type": "markdown"}, [][2]string{{"\"code\",\n   \"execution_count\": null,\n   \"id\": \"id2\"", "\"markdown\",\n   \"id\": \"id2\""}, {"{},\n   \"outputs\": [],\n   \"source\": [\n    \"y\"", "{},\n   \"source\": [\n    \"y\""}}, "changed from code to markdown"},
		"the type, from markdown to code":    {one, args{"cell_id": "id0", "new_source": "# Tïtle\ntext", "cell_type": "code"}, [][2]string{{"\"markdown\"", "\"code\",\n   \"execution_count\": null,\n   \"outputs\": []"}}, "changed from markdown to code"},
		"the type, with attachments and all": {`{"nbformat":4,"nbformat_minor":4,"cells":[{"attachments":{"a":{}},"cell_type":"markdown","source":"a"}]}`, args{"cell_id": "cell-0", "new_source": "a", "cell_type": "code"}, [][2]string{{`"attachments":{"a":{}},`, ""}, {`"markdown"`, `"code","execution_count":null,"outputs":[]`}}, "attachments of the cell were removed"},
		"the type, members in front":         {`{"nbformat":4,"nbformat_minor":4,"cells":[{"outputs":[1],"execution_count":2,"cell_type":"code","source":"a"}]}`, args{"cell_id": "cell-0", "new_source": "b", "cell_type": "raw"}, [][2]string{{`"outputs":[1],"execution_count":2,`, ""}, {`"code"`, `"raw"`}, {`"a"`, `"b"`}}, "removed"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			want := c.raw
			for _, s := range c.swap {
				if strings.Count(want, s[0]) != 1 {
					t.Fatalf("%q stands %d times in\n%s", s[0], strings.Count(want, s[0]), want)
				}
				want = strings.Replace(want, s[0], s[1], 1)
			}
			r, got := f.notebook(c.raw, c.a)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if !strings.Contains(r.Text, c.says) {
				t.Error(r.Text)
			}
		})
	}
}

func TestNotebookInserts(t *testing.T) {
	f := newFixture(t).writing()
	fresh := regexp.MustCompile(`"[0-9a-f]{8}"`)
	for name, c := range map[string]struct {
		raw, want string
		a         args
		says      string
	}{
		"N03 no id below 4.5": {
			`{"cells": [{"cell_type": "raw", "source": []}], "nbformat": 4, "nbformat_minor": 4}`,
			`{"cells": [{"cell_type": "raw", "source": []}, {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["a\n", "b"]}], "nbformat": 4, "nbformat_minor": 4}`,
			args{"position": "after", "cell_id": "cell-0", "cell_type": "code"}, "cell 2 of 2, handle cell-1",
		},
		"an id from 4.5 on": {
			`{"cells":[{"cell_type":"raw","id":"x","source":[]}],"nbformat":4,"nbformat_minor":5}`,
			`{"cells":[{"cell_type":"markdown","id":"********","metadata":{},"source":["a\n","b"]},{"cell_type":"raw","id":"x","source":[]}],"nbformat":4,"nbformat_minor":5}`,
			args{"position": "before", "cell_id": "x", "cell_type": "markdown"}, "cell 1 of 2, handle ********",
		},
		"into none, on lines": {
			"{\n  \"cells\": [],\n  \"nbformat\": 4,\n  \"nbformat_minor\": 5\n}\n",
			"{\n  \"cells\": [\n    {\n      \"cell_type\": \"raw\",\n      \"id\": \"********\",\n      \"metadata\": {},\n      \"source\": [\n        \"a\\n\",\n        \"b\"\n      ]\n    }\n  ],\n  \"nbformat\": 4,\n  \"nbformat_minor\": 5\n}\n",
			args{"position": "start", "cell_type": "raw"}, "cell 1 of 1",
		},
		"into none, with white space in it": {
			"{\"nbformat\":4,\"cells\":[ \n ],\"nbformat_minor\":0}",
			`{"nbformat":4,"cells":[{"cell_type":"raw","metadata":{},"source":["a\n","b"]}],"nbformat_minor":0}`,
			args{"position": "end", "cell_type": "raw"}, "handle cell-0",
		},
		"between cells on lines": {
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"raw\",\n   \"source\": []\n  },\n  {\n   \"cell_type\": \"raw\",\n   \"source\": []\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 2\n}",
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"raw\",\n   \"source\": []\n  },\n  {\n   \"cell_type\": \"raw\",\n   \"metadata\": {},\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  },\n  {\n   \"cell_type\": \"raw\",\n   \"source\": []\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 2\n}",
			args{"position": "after", "cell_id": "cell-0", "cell_type": "raw"}, "have shifted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			c.a["edit_mode"], c.a["new_source"] = "insert", "a\nb"
			r, got := f.notebook(c.raw, c.a)
			hidden := got
			id := fresh.FindString(got)
			if id != "" {
				hidden = strings.Replace(got, id, `"********"`, 1)
			}
			if hidden != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if says := strings.ReplaceAll(c.says, "********", strings.Trim(id, `"`)); !strings.Contains(r.Text, says) {
				t.Errorf("%q is not in %s", says, r.Text)
			}
			if view, note := notebookView([]byte(got)); view == nil {
				t.Error(note)
			}
		})
	}
}

func TestNotebookRefusals(t *testing.T) {
	f := newFixture(t).writing()
	const cell = `{"cell_type":"code","source":"a","outputs":[]}`
	whole := func(cells string) string { return `{"cells":[` + cells + `],"nbformat":4,"nbformat_minor":4}` }
	for name, c := range map[string]struct {
		raw  string
		cell string
		code turn.Code
		says string
	}{
		"N09 an unknown id":        {whole(`{"cell_type":"code","id":"a","source":""},` + cell), "nope", turn.CellNotFound, "Its handles are: a, cell-1"},
		"N09 a position too far":   {whole(cell), "cell-1", turn.CellNotFound, "cell-0"},
		"N09 no cells":             {whole(""), "cell-0", turn.CellNotFound, "no cells"},
		"N09 very many":            {whole(strings.Repeat(cell+",", 99) + cell), "x", turn.CellNotFound, "cell-19, and 80 more"},
		"N05 an id that two have":  {whole(`{"cell_type":"raw","id":"a","source":""},{"cell_type":"raw","id":"a","source":""}`), "a", turn.CellNotFound, "2 cells"},
		"N05 a place of one named": {whole(`{"cell_type":"raw","id":"a","source":""}`), "cell-0", turn.CellNotFound, "handles are: a"},
		"N05 a place that is an id": {whole(`{"cell_type":"raw","id":"cell-1","source":""},` + cell), noHandle + "(its position is another cell's id)",
			turn.CellNotFound, "no cell with the handle"},
		"N10 format 3":                 {`{"nbformat":3,"nbformat_minor":0,"worksheets":[]}`, "a", turn.NotANotebook, "format 3"},
		"N10 format 5":                 {`{"nbformat":5,"nbformat_minor":0,"cells":[]}`, "a", turn.NotANotebook, "format 5"},
		"N10 no format":                {`{"cells":[]}`, "a", turn.NotANotebook, "nbformat is missing"},
		"N10 a format that is no name": {`{"nbformat":"4","cells":[]}`, "a", turn.NotANotebook, "nbformat"},
		"N10 no minor format":          {`{"nbformat":4,"cells":[]}`, "a", turn.NotANotebook, "nbformat_minor"},
		"N13 cut off":                  {whole(cell)[:40], "cell-0", turn.NotANotebook, "no valid notebook"},
		"N13 cut off in a string":      {`{"cells":["a`, "cell-0", turn.NotANotebook, "a string has no end"},
		"N13 two values":               {whole(cell) + "{}", "cell-0", turn.NotANotebook, "more follows"},
		"N13 a key twice":              {strings.Replace(whole(cell), `"cell_type"`, `"source":"b","cell_type"`, 1), "cell-0", turn.NotANotebook, "source stands twice"},
		"N13 a key twice, escaped":     {strings.Replace(whole(cell), `"cell_type"`, `"s\u006furce":"b","cell_type"`, 1), "cell-0", turn.NotANotebook, "source stands twice"},
		"N13 a key twice, deep down":   {strings.Replace(whole(cell), `[]`, `[{"data":{"x":[{"a":1,"b":2,"a":3}]}}]`, 1), "cell-0", turn.NotANotebook, "a stands twice"},
		"N13 one of many keys twice":   {strings.Replace(whole(cell), `[]`, `{`+manyKeys(40)+`,"k7":1}`, 1), "cell-0", turn.NotANotebook, "k7 stands twice"},
		"N13 a comma too many":         {strings.Replace(whole(cell), `"a",`, `"a",,`, 1), "cell-0", turn.NotANotebook, ""},
		"N13 a comma at the end":       {strings.Replace(whole(cell), `[]`, `[1,]`, 1), "cell-0", turn.NotANotebook, ""},
		"N13 single quotes":            {strings.ReplaceAll(whole(cell), `"`, `'`), "cell-0", turn.NotANotebook, ""},
		"N13 a number like 01":         {strings.Replace(whole(cell), `[]`, `[01]`, 1), "cell-0", turn.NotANotebook, "begins with 0"},
		"N13 a number like .5":         {strings.Replace(whole(cell), `[]`, `[.5]`, 1), "cell-0", turn.NotANotebook, ""},
		"N13 a number like 1.":         {strings.Replace(whole(cell), `[]`, `[1.]`, 1), "cell-0", turn.NotANotebook, "not complete"},
		"N13 a word":                   {strings.Replace(whole(cell), `[]`, `nul`, 1), "cell-0", turn.NotANotebook, ""},
		"N13 a raw line end":           {strings.Replace(whole(cell), `"a"`, "\"a\n\"", 1), "cell-0", turn.NotANotebook, "control character"},
		"N13 a wrong escape":           {strings.Replace(whole(cell), `"a"`, `"\x41"`, 1), "cell-0", turn.NotANotebook, "escape"},
		"N13 half an escape":           {strings.Replace(whole(cell), `"a"`, `"\u12"`, 1), "cell-0", turn.NotANotebook, "escape"},
		"N13 too deep":                 {strings.Replace(whole(cell), `[]`, strings.Repeat("[", 1000)+strings.Repeat("]", 1000), 1), "cell-0", turn.NotANotebook, "too many levels"},
		"no object":                    {`[1]`, "cell-0", turn.NotANotebook, ""},
		"empty":                        {``, "cell-0", turn.NotANotebook, ""},
		"cells are no list":            {`{"cells":{},"nbformat":4,"nbformat_minor":4}`, "cell-0", turn.NotANotebook, "list of cells"},
		"a cell is no object":          {whole(`1`), "cell-0", turn.NotANotebook, "cell 1 has no cell_type"},
		"a source that is no text":     {whole(`{"cell_type":"code","source":[1]}`), "cell-0", turn.NotANotebook, "no source"},
		"no source":                    {whole(`{"cell_type":"code"}`), "cell-0", turn.NotANotebook, "no source"},
		"not UTF-8":                    {strings.Replace(whole(cell), "a", "\xff", 1), "cell-0", turn.NotUTF8, "0xff"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.write("work/n.ipynb", c.raw)
			f.refused("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": c.cell, "new_source": "new"}, c.code, c.says)
			if c.says == "no source" {
				return // nothing else needs that source
			}
			f.refused("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": c.cell, "edit_mode": "insert", "position": "before", "cell_type": "raw", "new_source": "new"}, c.code, c.says)
		})
	}
	f.t = t
	f.write("work/n.ipynb", whole(cell))
	f.refused("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "a"}, turn.EditNoChange)
	f.refused("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "b", "expected_sha256": hashOf(nil)}, turn.FileChanged)
	f.refused("NotebookEdit", args{"notebook_path": "none.ipynb", "cell_id": "cell-0", "new_source": "b"}, turn.NotFound)
	for _, a := range []string{
		`{"notebook_path":"n.ipynb"}`,
		`{"notebook_path":"n.txt","cell_id":"a","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","cell_id":"a"}`,
		`{"notebook_path":"n.ipynb","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","cell_id":"a","new_source":"b","position":"end"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"insert","cell_type":"raw","new_source":"b"}`, // N07
		`{"notebook_path":"n.ipynb","edit_mode":"insert","cell_type":"raw","cell_id":"a","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"insert","position":"end","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"insert","position":"end","cell_type":"raw"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"insert","position":"end","cell_id":"a","cell_type":"raw","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"insert","position":"after","cell_type":"raw","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"delete","cell_id":"a","new_source":"b"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"delete","cell_id":"a","cell_type":"raw"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"delete"}`,
		`{"notebook_path":"n.ipynb","edit_mode":"clear","cell_id":"a","new_source":""}`,
	} {
		if _, err := f.e.Check(f.scope, "NotebookEdit", []byte(a)); err == nil {
			t.Errorf("%s was accepted", a)
		}
	}
}

func manyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf(`"k%d":0`, i))
	}
	return strings.Join(keys, ",")
}
