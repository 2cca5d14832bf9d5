package executor

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

const sampleNotebook = `{
 "cells": [
  {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text ü"]},
  {"cell_type": "code", "execution_count": 7, "metadata": {}, "source": "x = 1\nx", "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["hello\n", "world\n"]},
    {"output_type": "display_data", "data": {"text/plain": "<Figure>", "image/png": "aWlpaWlp"}, "metadata": {}},
    {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\u001b[31mlong\u001b[0m"]}]},
  {"cell_type": "code", "id": "twin", "source": [], "outputs": []},
  {"cell_type": "raw", "id": "twin", "source": "r"},
  {"cell_type": "code", "id": "cell-5", "source": "named like a position"},
  {"cell_type": "code", "source": "unnamed"}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}
`

func TestReadShowsNotebooksByCell(t *testing.T) {
	f := newFixture(t)
	f.write("work/a.ipynb", sampleNotebook)
	r := f.ok("Read", args{"file_path": "a.ipynb"})
	want := `=== cell 1 of 6: markdown, handle intro ===
# Title
text ü

=== cell 2 of 6: code, handle cell-1, execution 7 ===
x = 1
x
--- output 1 of 3: stdout ---
hello
world
--- output 2 of 3: display_data ---
<Figure>
[image/png, 10 bytes of JSON, not shown]
--- output 3 of 3: error ---
ValueError: no

=== cell 3 of 6: code, handle cell-2 ===

=== cell 4 of 6: raw, handle cell-3 ===
r

=== cell 5 of 6: code, handle cell-5 ===
named like a position

=== cell 6 of 6: code, handle none (its position is another cell's id) ===
unnamed
`
	if body(r) != want {
		t.Errorf("%s", body(r))
	}
	if !strings.Contains(r.Text, "6 cells, format 4.5, python; lines are those of this view") || !strings.Contains(r.Text, count(int64(len(sampleNotebook)), "byte")) {
		t.Error(r.Text)
	}
	r = f.ok("Read", args{"file_path": "a.ipynb", "offset": 5, "limit": 2})
	if !strings.HasPrefix(body(r), "=== cell 2 of 6: code, handle cell-1, execution 7 ===\nx = 1\n[limit reached") {
		t.Error(r.Text)
	}
}

func TestNotebookOutputsAreShortened(t *testing.T) {
	f := newFixture(t)
	lines := strings.Repeat(`"line\n",`, 5000)
	f.write("work/a.IPYNB", `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"code","source":"x","outputs":[{"output_type":"stream","name":"stderr","text":[`+strings.TrimSuffix(lines, ",")+`]},{"output_type":"execute_result","data":{"text/plain":"`+strings.Repeat("😀", 2000)+`"}}]}]}`)
	r := f.ok("Read", args{"file_path": "a.IPYNB"})
	if n := strings.Count(r.Text, "line\n"); n != maxOutputLines || !strings.Contains(r.Text, "[output cut: 24,900 bytes more]") || !strings.Contains(r.Text, "[output cut: 6,000 bytes more]") || r.Truncated {
		t.Errorf("%d lines: %s", n, r.Text)
	}
}

func TestWhatIsNoNotebookIsShownAsText(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct{ text, note string }{
		"old":       {`{"nbformat":3,"worksheets":[]}`, "notebook of format 3"},
		"cut off":   {`{"nbformat":4,"cells":[`, "not a valid notebook"},
		"NaN":       {`{"nbformat":4,"cells":[{"cell_type":"code","source":NaN}]}`, "not a valid notebook"},
		"duplicate": {`{"nbformat":4,"nbformat":4,"cells":[]}`, "not a valid notebook"},
		"prose":     {"just text\n", "not a valid notebook"},
		"empty":     {"", "not a valid notebook"},
	} {
		f.write("work/n.ipynb", c.text)
		r := f.ok("Read", args{"file_path": "n.ipynb"})
		if body(r) != c.text || !strings.Contains(r.Text, c.note) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

func FuzzNotebookView(f *testing.F) {
	f.Add([]byte(sampleNotebook))
	f.Add([]byte(`{"nbformat":4,"cells":[{"source":["a",1]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		view, note := notebookView(raw)
		if view == nil && note == "" {
			t.Fatal("neither a view nor a reason")
		}
		if !utf8.Valid(view) || strings.Contains(string(view), "\x00") {
			t.Fatal("the view is not plain text")
		}
		if view != nil && len(view) > 20*len(raw)+1000 {
			t.Fatal(fmt.Sprint("the view is larger than the file: ", len(view), len(raw)))
		}
	})
}
