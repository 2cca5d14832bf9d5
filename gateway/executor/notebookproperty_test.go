package executor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// madeNotebook is a random notebook with its parts, put together without the
// scanner that is tested.
type madeNotebook struct {
	head, tail string
	cells      []madeCell
	between    string
	minor      int
}

type madeCell struct {
	// before and after stand around the value of source.
	before, source, after string
	text                  string // what source says
	extra                 string // a member that nobody may touch
	code                  bool
}

func (c madeCell) String() string { return c.before + c.source + c.after }

func (n madeNotebook) String() string {
	parts := make([]string, len(n.cells))
	for i, c := range n.cells {
		parts[i] = c.String()
	}
	return n.head + strings.Join(parts, n.between) + n.tail
}

// oddValues are values that a JSON library would write in another way.
var oddValues = []string{`1e-07`, `1.0`, `-0`, `123456789012345678901234567890`, `"\u00e9\/"`, `"é\ud83d\ude00"`, `NaN`, `-Infinity`, `{ "zz" : 1 , "aa":[ ] }`, `[1,2 ,	3]`, `"\ud800"`, `{"cells": [{"source": "no"}], "source": ["no"]}`, `true`, `null`, `"` + strings.Repeat("x", 3000) + `"`}

func someNotebook(r *rand.Rand) madeNotebook {
	eol := []string{"\n", "\r\n", "", " "}[r.IntN(4)]
	unit := []string{" ", "  ", "\t", ""}[r.IntN(4)]
	space := func(level int) string {
		if !strings.Contains(eol, "\n") {
			return eol
		}
		return eol + strings.Repeat(unit, level)
	}
	colon := []string{":", ": ", " : "}[r.IntN(3)]
	n := madeNotebook{minor: []int{0, 2, 4, 5}[r.IntN(4)]}
	odd := func() string { return oddValues[r.IntN(len(oddValues))] }
	n.head = "{" + space(1) + `"zz"` + colon + odd() + "," + space(1) + `"cells"` + colon + "[" + space(2)
	n.tail = space(1) + "]," + space(1) + `"metadata"` + colon + odd() + "," + space(1) + `"nbformat"` + colon + "4," + space(1) + fmt.Sprintf(`"nbformat_minor"%s%d`, colon, n.minor) + space(0) + "}"
	if r.IntN(2) == 0 {
		n.tail += "\n"
	}
	if r.IntN(4) == 0 {
		n.head = bom + n.head
	}
	n.between = "," + space(2)
	for i := range 1 + r.IntN(5) {
		c := madeCell{extra: `"odd"` + colon + odd(), code: r.IntN(2) == 0}
		kind := "markdown"
		if c.code {
			kind = "code"
		}
		members := []string{`"cell_type"` + colon + `"` + kind + `"`, c.extra}
		if r.IntN(3) > 0 {
			members = append(members, fmt.Sprintf(`"id"%s"id-%d"`, colon, i))
		}
		if c.code {
			members = append(members, `"outputs"`+colon+[]string{"[]", "[ ]", `[{"output_type": "stream", "text": ["source"]}]`}[r.IntN(3)], `"execution_count"`+colon+[]string{"null", "7"}[r.IntN(2)])
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		at := r.IntN(len(members) + 1)
		gap := "," + space(3)
		c.before = "{" + space(3) + strings.Join(append(append([]string(nil), members[:at]...), `"source"`+colon), gap)
		c.after = strings.Join(append([]string{""}, members[at:]...), gap) + space(2) + "}"
		c.text = strings.ReplaceAll(strings.ReplaceAll(someText(r, r.IntN(6), []string{"\n"}), "\r", ""), "\x00", "")
		c.source = someSource(r, c.text, space)
		n.cells = append(n.cells, c)
	}
	return n
}

// someSource writes a source as a string or as a list of lines.
func someSource(r *rand.Rand, text string, space func(int) string) string {
	quote := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
	if r.IntN(3) == 0 {
		return quote(text)
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, quote(line))
	}
	if len(lines) == 0 {
		return "[" + space(4) + "]"
	}
	return "[" + space(4) + strings.Join(lines, ","+space(4)) + space(3) + "]"
}

// TestRandomNotebooks holds each change of random notebooks against its parts:
// outside the cell that is named no byte changes, inside it only source and what
// the old source had put out.
func TestRandomNotebooks(t *testing.T) {
	r := dice(t)
	f := newFixture(t).writing()
	for range 300 {
		n := someNotebook(r)
		raw := n.String()
		parsed, err := parseNotebook("n", []byte(strings.TrimPrefix(raw, bom)))
		if err != nil || len(parsed.cells) != len(n.cells) {
			t.Fatalf("%s: %v", raw, err)
		}
		i := r.IntN(len(n.cells))
		cell := n.cells[i]
		handle := parsed.cells[i].handle
		text := someText(r, r.IntN(6), []string{"\n"})
		text = strings.ReplaceAll(text, "\r", "")
		switch r.IntN(3) {
		case 0:
			if text == cell.text {
				continue
			}
			_, got := f.notebook(raw, args{"cell_id": handle, "new_source": text})
			head, tail := (madeNotebook{head: n.head, cells: append(n.cells[:i:i], madeCell{}), between: n.between}).String(), n.between+(madeNotebook{cells: n.cells[i+1:], between: n.between, tail: n.tail}).String()
			if i == len(n.cells)-1 {
				tail = n.tail
			}
			if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) || len(got) < len(head)+len(tail) {
				t.Fatalf("more than cell %d changed:\n%s\n%s", i, raw, got)
			}
			checkCell(t, n, cell, got[len(head):len(got)-len(tail)], text)
		case 1:
			_, got := f.notebook(raw, args{"cell_id": handle, "edit_mode": "delete"})
			rest := n
			rest.cells = append(n.cells[:i:i], n.cells[i+1:]...)
			want := rest.String()
			if len(rest.cells) == 0 { // then the list is empty
				want = strings.TrimRight(rest.head, " \t\r\n") + strings.TrimLeft(rest.tail, " \t\r\n")
			}
			if got != want {
				t.Fatalf("deleted %d:\n%q\n%q\nwant\n%q", i, raw, got, want)
			}
		case 2:
			_, got := f.notebook(raw, args{"cell_id": handle, "edit_mode": "insert", "position": "before", "cell_type": "code", "new_source": text})
			before := (madeNotebook{head: n.head, cells: append(n.cells[:i:i], madeCell{}), between: n.between}).String()
			after := n.between + (madeNotebook{cells: n.cells[i:], between: n.between, tail: n.tail}).String()
			if len(n.cells) == 1 && !strings.HasSuffix(got, after) { // there is no example of what stands between
				after = after[len(n.between):]
			}
			if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
				t.Fatalf("inserted before %d:\n%q\n%q\n%q", i, raw, got, after)
			}
			made := strings.TrimRight(got[len(before):len(got)-len(after)], ", \r\n\t")
			var c struct {
				ID     *string  `json:"id"`
				Source []string `json:"source"`
			}
			if err := json.Unmarshal([]byte(made), &c); err != nil || strings.Join(c.Source, "") != text || (c.ID != nil) != (n.minor >= 5) {
				t.Fatalf("%v: %q for %q", err, made, text)
			}
		}
	}
}

// checkCell holds a replaced cell: the same members, in the same order.
func checkCell(t *testing.T, n madeNotebook, was madeCell, got, text string) {
	t.Helper()
	clear := strings.NewReplacer(`[{"output_type": "stream", "text": ["source"]}]`, "[]", "[ ]", "[ ]")
	head, tail := was.before, was.after
	if was.code {
		head, tail = clear.Replace(head), clear.Replace(tail)
		for _, colon := range []string{":", ": ", " : "} {
			count := `"execution_count"` + colon
			head, tail = strings.Replace(head, count+"7", count+"null", 1), strings.Replace(tail, count+"7", count+"null", 1)
		}
	}
	if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) || !strings.Contains(got, was.extra) {
		t.Fatalf("the cell\n%q became\n%q", was, got)
	}
	source := got[len(head) : len(got)-len(tail)]
	var says lines
	if err := json.Unmarshal([]byte(source), &says); err != nil || string(says) != text {
		t.Fatalf("%v: the source %q says %q, not %q", err, source, says, text)
	}
	if source[0] != was.source[0] {
		t.Fatalf("the source %q became %q", was.source, source)
	}
}

func FuzzScanJSON(f *testing.F) {
	for _, seed := range append(oddValues, sampleNotebook, `{"a":{"a":1},"a":2}`, `[1,2`, `"\u12"`, `{"":0}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := scanJSON(raw)
		if err != nil {
			return
		}
		if v.from < 0 || v.to > len(raw) || v.from >= v.to {
			t.Fatalf("%q: %d to %d", raw, v.from, v.to)
		}
		if strings.Contains(string(raw), "NaN") || strings.Contains(string(raw), "Infinity") {
			return
		}
		var any any
		if err := json.Unmarshal(raw, &any); err != nil && !strings.Contains(err.Error(), "depth") && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}
