package executor

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// dice makes random texts, and says its seed when a test fails.
func dice(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// someText makes a text of a few kinds of pieces; ends are the line ends in it.
func someText(r *rand.Rand, pieces int, ends []string) string {
	var b strings.Builder
	alphabet := []string{"a", "b", "ab", " ", "  ", "\t", "é", "e\u0301", "\U0001F600", "\U0001F468\u200d\U0001F469", "$&", "\\", "\"", "“", "\u2028", bom, "0"}
	for range pieces {
		switch n := r.IntN(12); {
		case n < 3 && len(ends) > 0:
			b.WriteString(ends[r.IntN(len(ends))])
		case n == 3 && r.IntN(40) == 0:
			b.WriteString(strings.Repeat(alphabet[r.IntN(len(alphabet))], 5000+r.IntN(60000)))
		default:
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
	}
	return b.String()
}

// spanOf finds text in raw whatever lines end in, byte by byte, and returns
// where each match begins and ends.
func spanOf(raw, text string) (spans [][2]int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for from := range len(raw) {
		if from > 0 && raw[from-1] == '\r' && raw[from] == '\n' {
			continue // inside a line end
		}
		at, i := from, 0
		for i < len(text) && at < len(raw) {
			wide := raw[at] == '\r' && at+1 < len(raw) && raw[at+1] == '\n'
			switch {
			case text[i] == '\n' && wide:
				at += 2
			case !wide && raw[at] == text[i]:
				at++
			default:
				at = len(raw)
				continue
			}
			i++
		}
		if i == len(text) {
			spans = append(spans, [2]int{from, at})
		}
	}
	return spans
}

// TestRandomEdits holds each edit of random texts against what an edit may do:
// outside the span that was named nothing changes, inside stands the new text,
// its lines ending as lines of the file end.
func TestRandomEdits(t *testing.T) {
	r := dice(t)
	f := newFixture(t).writing()
	kinds := [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}, {"\n", "\r\n", "\r", "\n\n", "\r\r\n"}, nil}
	edits := map[turn.Code]int{}
	for range 400 {
		ends := kinds[r.IntN(len(kinds))]
		raw := someText(r, r.IntN(60), ends)
		if strings.Contains(raw, "\r") && !strings.Contains(raw, "\n") {
			raw += "\n" // what only CR ends is another matter
		}
		mark := ""
		if r.IntN(4) == 0 {
			mark = bom
		} else if strings.HasPrefix(raw, bom) {
			raw = "x" + raw
		}
		old := pick(r, raw)
		if old == "" {
			continue
		}
		if r.IntN(2) == 0 {
			old = strings.ReplaceAll(old, "\r\n", "\n")
		}
		new := someText(r, r.IntN(8), []string{"\n", "\r\n"})
		f.write("work/e.txt", mark+raw)
		res := f.run("Edit", args{"file_path": "e.txt", "old_string": old, "new_string": new})
		got := f.read("work/e.txt")
		edits[res.Code]++
		spans := spanOf(raw, old)
		if res.Outcome != turn.OK {
			if got != mark+raw {
				t.Fatalf("%s, and it changed", res.Code)
			}
			same := strings.ReplaceAll(old, "\r\n", "\n") == strings.ReplaceAll(new, "\r\n", "\n")
			if right := res.Code == turn.EditNotUnique && len(spans) > 1 || res.Code == turn.EditNoChange && same || res.Code == turn.EditNotFound && len(spans) == 0; !right {
				t.Fatalf("%q in %q by %q: %s, %d matches", old, raw, new, res.Code, len(spans))
			}
			continue
		}
		if len(spans) != 1 {
			t.Fatalf("%q in %q: edited with %d matches", old, raw, len(spans))
		}
		head, tail := mark+raw[:spans[0][0]], raw[spans[0][1]:]
		if len(got) < len(head)+len(tail) || !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
			t.Fatalf("%q in %q by %q: something else changed: %q", old, raw, new, got)
		}
		put := got[len(head) : len(got)-len(tail)]
		if strings.ReplaceAll(put, "\r\n", "\n") != strings.ReplaceAll(new, "\r\n", "\n") {
			t.Fatalf("%q in %q by %q: put %q", old, raw, new, put)
		}
		if crlfs := strings.Count(raw, "\r\n"); strings.Contains(raw, "\n") && !strings.HasSuffix(raw[:spans[0][0]], "\r") && !strings.Contains(old, "\r") {
			if crlfs == 0 && strings.Contains(put, "\r\n") || crlfs == strings.Count(raw, "\n") && strings.Count(put, "\n") != strings.Count(put, "\r\n") {
				t.Fatalf("%q in %q by %q: the lines of %q do not end as those of the file", old, raw, new, put)
			}
		}
	}
	if edits[""] < 50 || edits[turn.EditNotUnique] == 0 {
		t.Errorf("%v", edits)
	}
}

// pick takes a piece of a text between characters.
func pick(r *rand.Rand, text string) string {
	if text == "" {
		return ""
	}
	from := r.IntN(len(text))
	to := from + 1 + r.IntN(min(len(text)-from, 12))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	// A line end is one thing.
	if from > 0 && text[from] == '\n' && text[from-1] == '\r' {
		from--
	}
	if to < len(text) && text[to] == '\n' && text[to-1] == '\r' {
		to++
	}
	return text[from:to]
}

// TestRandomWritesKeepEverythingElse holds mode, owner, attributes and access
// list of files through writes of every kind and their undo. As root the files
// belong to somebody else.
func TestRandomWritesKeepEverythingElse(t *testing.T) {
	r := dice(t)
	f := newWriting(t)
	for i := range 40 {
		f.write("work/e.txt", "start\r\n"+someText(r, 20, []string{"\n", "\r\n"}))
		f.write("work/n.ipynb", sampleNotebook)
		for _, rel := range []string{"work/e.txt", "work/n.ipynb"} {
			mode := os.FileMode(0o600 | r.IntN(0o200))
			if err := os.Chmod(f.path(rel), mode); err != nil {
				t.Fatal(err)
			}
			dressUp(t, f.path(rel), r, i%3 == 0)
		}
		before := tree(t, f.work)
		kept := func(s string) string { // all but inode, size and hash
			mode, rest, _ := strings.Cut(s, " inode ")
			return mode + rest[max(0, strings.LastIndex(rest, "[")):]
		}
		check := func(what, rel string) {
			if now, was := kept(tree(t, f.work)[f.path(rel)]), kept(before[f.path(rel)]); now != was {
				t.Fatalf("%s: %s, before %s", what, now, was)
			}
		}
		f.wrote("Edit", args{"file_path": "e.txt", "old_string": "start", "new_string": "begin"}, "work/e.txt")
		check("Edit", "work/e.txt")
		f.wrote("Write", args{"file_path": "e.txt", "content": someText(r, 10, []string{"\n"}) + "end"}, "work/e.txt")
		check("Write", "work/e.txt")
		f.wrote("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": "intro", "new_source": "x"}, "work/n.ipynb")
		check("NotebookEdit", "work/n.ipynb")
		last := len(f.intents) - 2
		if res := f.e.Revert(t.Context(), f.intents[last], f.befores[last], f.sink()); res.Outcome != turn.OK {
			t.Fatal(res.Text)
		}
		check("Revert", "work/e.txt")
		for _, rel := range []string{"work/e.txt", "work/n.ipynb"} {
			if err := os.Remove(f.path(rel)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFlatTextFindsItsWayBack maps every offset.
func TestFlatTextFindsItsWayBack(t *testing.T) {
	r := dice(t)
	for range 200 {
		raw := []byte(someText(r, 30, []string{"\n", "\r\n", "\r", "\r\r\n"}) + "\n")
		text := flatten(raw)
		if !bytes.Equal(text.flat, bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))) {
			t.Fatalf("%q is flat %q", raw, text.flat)
		}
		at := 0
		for i, c := range text.flat {
			if text.rawAt(i) != at {
				t.Fatalf("%q: %d stands at %d, not %d", raw, i, at, text.rawAt(i))
			}
			if c == '\n' && raw[at] == '\r' {
				at++
			}
			at++
		}
		if text.rawAt(len(text.flat)) != len(raw) {
			t.Fatalf("%q: the end is at %d", raw, text.rawAt(len(text.flat)))
		}
	}
}
