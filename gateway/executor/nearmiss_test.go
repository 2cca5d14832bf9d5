package executor

import (
	"strings"
	"testing"
	"time"

	"deckhand/gateway/turn"
)

func TestNearMissSaysWhatDiffers(t *testing.T) {
	f := newFixture(t).writing()
	code := "func main() {\n\tfor i := range 10 {\n\t\tfmt.Println(i)\n\t}\n}\n"
	for name, c := range map[string]struct {
		text, old string
		says      []string
	}{
		"E15 curly quotes":              {"it\u2019s \u201cfine\u201d\n", "it's \"fine\"", []string{"typographic quotes", "line 1", "\u201cfine\u201d"}},
		"E15 a dash":                    {"pages 1\u20132 of it\n", "pages 1-2 of it", []string{"typographic quotes, dashes"}},
		"E18 NFD in the file":           {"x\ncafe\u0301 au lait\n", "caf\u00e9 au lait", []string{"Unicode normalisation", "line 2", `cafe\u0301`}},
		"E18 NFC in the file":           {"caf\u00e9\n", "cafe\u0301", []string{"Unicode normalisation", `caf\u00e9`}},
		"E19 tabs in the file":          {"all:\n\tcc -o a a.c\n", "all:\n    cc -o a a.c", []string{"tabs vs spaces", "the file has tabs", "lines 1-2", `"\tcc -o a a.c\n"`}},
		"E19 spaces in the file":        {"if x:\n    y = 1\n", "if x:\n\ty = 1", []string{"tabs vs spaces", "the file has spaces"}},
		"E19 deeper in a file":          {strings.Repeat("// text\n", 3000) + code + strings.Repeat("// more\n", 3000), "    for i := range 10 {\n        fmt.Println(i)\n    }", []string{"tabs vs spaces", "lines 3,002-3,004"}},
		"spaces at the end of a line":   {"one\ntwo  \nthree\n", "two\nthree", []string{"white space", "lines 2-3", `"two  \n"`}},
		"spaces in the middle":          {"a  =  b\n", "a = b", []string{"white space", "line 1"}},
		"a no-break space":              {"a\u00a0b c\n", "a b c", []string{"white space", `"a\u00a0b c\n"`}},
		"lines broken elsewhere":        {"one two\nthree four\n", "one\ntwo three four", []string{"white space: its line breaks"}},
		"upper case":                    {"Hello World\n", "hello world", []string{"upper and lower case", "line 1"}},
		"two differences":               {"\tHello World\n", "    hello world", []string{"white space and upper and lower case"}},
		"without words":                 {"\u2014 \u2026 !!\n", "- ... !!", []string{"typographic"}},
		"backslashes":                   {"say(\"hi\")\nend\n", `say(\"hi\")\nend`, []string{"backslash escapes", "lines 1-2"}},
		"HTML entities":                 {"if a < b && c {\n", "if a &lt; b &amp;&amp; c {", []string{"HTML entities", "line 1"}},
		"begins as asked":               {"const limit = 10 // bytes\n", "const limit = 10 // lines", []string{"first 20 bytes", "up to line 1", `"bytes\n"`, `"lines"`}},
		"begins as asked, on lines":     {"aaaa\nbbbb\ncccc\ndddd\n", "aaaa\nbbbb\ncccc\neeee", []string{"first 15 bytes", "up to line 4", `"dddd\n"`, `"eeee"`}},
		"a byte order mark":             {bom + "one two\n", bom + "one two", []string{"byte order mark"}},
		"only white space":              {"one\n", " \t ", []string{"nothing but white space"}},
		"nothing like it":               {"one\ntwo\n", "completely different text", []string{"Nothing like it was found either"}},
		"a long text that ends another": {strings.Repeat("word ", 5000) + "end\n", strings.Repeat("word ", 5000) + "END", []string{"first 25,000 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.write("work/e.txt", c.text)
			f.refused("Edit", args{"file_path": "e.txt", "old_string": c.old, "new_string": "new"}, turn.EditNotFound, c.says...)
		})
	}
}

// TestNearMissStopsWhenItsTimeIsUp lets the time be up at once, and at random
// later; whatever was found by then is right.
func TestNearMissStopsWhenItsTimeIsUp(t *testing.T) {
	r := dice(t)
	text := flatten([]byte(strings.Repeat("some line of text that is there\n", 60000)))
	for range 20 {
		spent := newBudget(-1)
		if s := nearMiss(text, "SOME other line \U0001F600", spent); !strings.Contains(s, "could be compared in a moment") || !spent.out {
			t.Fatal(s)
		}
		left := newBudget(time.Duration(r.IntN(3000)) * time.Microsecond)
		if s := nearMiss(text, "Some line of text", left); !strings.Contains(s, "upper and lower case") && !left.out {
			t.Fatal(s)
		}
	}
	// Between two looks at the clock there is only so much to do.
	if lookPiece > 1<<20 || longestFolded > 64<<10 {
		t.Error("a step of the search is not short")
	}
}

// TestFoldsOverlookWhatTheySay holds each set of differences to its names.
func TestFoldsOverlookWhatTheySay(t *testing.T) {
	variants := map[fold][2]string{
		foldSpaces:  {"a b\nc", "a\t b  c"},
		foldForms:   {"caf\u00e9", "cafe\u0301"},
		foldQuotes:  {"\"it's\" - so...", "\u201cit\u2019s\u201d \u2013 so\u2026"},
		foldLetters: {"Straße ÀB", "straße àb"},
	}
	for _, f := range folds {
		for single, v := range variants {
			if same := string(f.of([]byte(v[0]))) == string(f.of([]byte(v[1]))); same != (f&single != 0) {
				t.Errorf("%s: %q and %q are the same: %v", f.says(), v[0], v[1], same)
			}
		}
	}
	if len(folds) != 15 || folds[14] != foldAll {
		t.Error("a set is missing")
	}
}
