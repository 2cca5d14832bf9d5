package executor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// The cases are named after the list of inputs on which others damage files;
// neighbours stand beside each.

func TestEditKeepsLineEnds(t *testing.T) {
	f := newFixture(t).writing()
	for name, c := range map[string]struct{ text, old, new, want string }{
		"E01 CRLF, one word to two lines":               {"one\r\ntwo\r\n", "two", "2\n2b", "one\r\n2\r\n2b\r\n"},
		"E01 CRLF, given with CRLF":                     {"one\r\ntwo\r\n", "two", "2\r\n2b", "one\r\n2\r\n2b\r\n"},
		"E01 LF, given with CRLF":                       {"one\ntwo\n", "two", "2\r\n2b", "one\n2\n2b\n"},
		"E01 CRLF, the last line without end":           {"one\r\ntwo", "two", "2\n2b", "one\r\n2\r\n2b"},
		"E01 CRLF, the first line":                      {"one\r\ntwo\n", "one", "0\n1", "0\r\n1\r\ntwo\n"},
		"E01 one line without end":                      {"one", "one", "1\n2", "1\n2"},
		"E01 one line without end, given with CRLF":     {"one", "one", "1\r\n2", "1\r\n2"},
		"E02 CRLF, several lines":                       {"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"},
		"E02 CRLF, lines deleted":                       {"a\r\nb\r\nc\r\n", "a\nb\n", "", "c\r\n"},
		"E02 CRLF, a line end deleted":                  {"a\r\nb\r\n", "a\nb", "ab", "ab\r\n"},
		"E02 CRLF, old begins with a line end":          {"a\r\nb\r\n", "\nb", "", "a\r\n"},
		"E02 CRLF, old ends with one":                   {"a\r\nb\r\n", "a\n", "", "b\r\n"},
		"E02 CRLF, old is one":                          {"a\r\nb", "\n", "-", "a-b"},
		"E02 LF, old given with CRLF":                   {"a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n"},
		"E03 mixed, one word":                           {"one\r\n two\n three\r\n four\n", "three", "3", "one\r\n two\n 3\r\n four\n"},
		"E03 mixed, lines one to one":                   {"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nB\nC\nD", "A\r\nB\nC\r\nD\n"},
		"E03 mixed, one line among many":                {"a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nb\nX\nd\n", "a\r\nb\nX\r\nd\n"},
		"E03 mixed, a line added after a CRLF line":     {"a\r\nb\nc\n", "a\nb", "a\nnew\nb", "a\r\nnew\r\nb\nc\n"},
		"E03 mixed, a line added after an LF line":      {"a\nb\r\nc\r\n", "a\nb", "a\nnew\nb", "a\nnew\nb\r\nc\r\n"},
		"E03 mixed, a line removed":                     {"a\r\nb\nc\r\n", "a\nb\nc", "a\nc", "a\r\nc\r\n"},
		"E03 mixed, more lines than before":             {"a\r\nb\nc\n", "a\nb\nc", "1\n2\n3\n4", "1\r\n2\n3\n4\n"},
		"E03 CR CR LF: the first CR is no line end":     {"a\r\r\nb\n", "a", "A", "A\r\r\nb\n"},
		"E03 old Mac, one word":                         {"one\rtwo\rthree", "two", "2", "one\r2\rthree"},
		"E03 old Mac, lines":                            {"one\rtwo\rthree\r", "one\ntwo", "1\n2\n2b", "1\r2\r2b\rthree\r"},
		"E03 a CR inside a line of an LF file":          {"50%\r100%\ndone\n", "done", "ok", "50%\r100%\nok\n"},
		"E03 a CR inside a line is matched as it is":    {"50%\r100%\ndone\n", "50%\r100%", "all", "all\ndone\n"},
		"E03 other separators are text":                 {"a\u2028b\u0085c\x0bd\x0ce\r\nf\r\n", "c\x0bd", "C\nD", "a\u2028b\u0085C\r\nD\x0ce\r\nf\r\n"},
		"E06 BOM, the first word":                       {bom + "one two\r\n", "one", "1", bom + "1 two\r\n"},
		"E06 BOM, everything":                           {bom + "one", "one", "", bom + ""},
		"E06 BOM in the middle is text":                 {"a" + bom + "b\n", "a" + bom + "b", "c", "c\n"},
		"E06 BOM, and one in new is text":               {bom + "one\n", "one", bom + "two", bom + bom + "two\n"},
		"E12 no final newline":                          {"one\ntwo", "two", "2", "one\n2"},
		"E12 no final newline, one added":               {"one\ntwo", "two", "2\n", "one\n2\n"},
		"E12 CRLF, no final newline, one added":         {"one\r\ntwo", "two", "2\n", "one\r\n2\r\n"},
		"E12 final newline removed by an edit of it":    {"one\ntwo\n", "two\n", "two", "one\ntwo"},
		"E12 two final newlines":                        {"one\n\n", "one", "1", "1\n\n"},
		"E13 spaces at the end of lines":                {"a\nb\n", "a\nb", "a  \nb \t", "a  \nb \t\n"},
		"E13 spaces at the ends of both":                {" a \n", " a ", "  b  ", "  b  \n"},
		"E14 dollars":                                   {"x = 1\n", "x", "$$ $& $` $' $1 ${1} \\1", "$$ $& $` $' $1 ${1} \\1 = 1\n"},
		"E14 dollars and expressions in old":            {"a.*b $1 (x)[y]\n", ".*b $1 (x)[y]", "+", "a+\n"},
		"E14 percent and backslashes":                   {"a\n", "a", `%s %d \n \\ \x00`, `%s %d \n \\ \x00` + "\n"},
		"E15 curly quotes are matched by curly quotes":  {"say \u201chi\u201d\n", "\u201chi\u201d", "\"ho\"", "say \"ho\"\n"},
		"E18 decomposed text by decomposed text":        {"cafe\u0301\n", "cafe\u0301", "tea", "tea\n"},
		"E19 a hard tab":                                {"all:\n\tcc a.c\n", "\tcc a.c", "\tcc b.c", "all:\n\tcc b.c\n"},
		"E25 astral characters":                         {"a\U0001F600b\U0001F601\n", "\U0001F600", "\U0001F602\U0001F603", "a\U0001F602\U0001F603b\U0001F601\n"},
		"E25 one of a family joined by invisible marks": {"\U0001F468\u200d\U0001F469\n", "\U0001F468", "\U0001F475", "\U0001F475\u200d\U0001F469\n"},
		"everything":                                    {"one\n", "one\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.edited(c.text, c.old, c.new, c.want)
			st := f.read("work/e.txt")
			w := f.intents[len(f.intents)-1]
			if r := f.e.Revert(t.Context(), w, f.befores[len(f.befores)-1], f.sink()); r.Outcome != turn.OK || f.read("work/e.txt") != c.text {
				t.Errorf("taken back from %q to %q: %s", st, f.read("work/e.txt"), r.Text)
			}
		})
	}
}

func TestEditRefusesWhatItCannotDoFaithfully(t *testing.T) {
	f := newFixture(t).writing()
	for name, c := range map[string]struct {
		text string
		code turn.Code
		says string
	}{
		"E08 one byte of Windows-1252":  {"price 5\x99\nword\n", turn.NotUTF8, "0x99 at byte offset 7 (line 1)"},
		"E08 in the last line":          {"word\n\xe9", turn.NotUTF8, "0xe9 at byte offset 5 (line 2)"},
		"E08 Latin-1 in the middle":     {"word caf\xe9 x", turn.NotUTF8, "0xe9"},
		"E08 a surrogate in UTF-8":      {"word \xed\xa0\x80", turn.NotUTF8, "0xed"},
		"E08 an overlong form":          {"word \xc0\xaf", turn.NotUTF8, "0xc0"},
		"E08 a character cut off":       {"word \xf0\x9f\x98", turn.NotUTF8, "0xf0"},
		"E09 GBK":                       {"// \xd6\xd0\xce\xc4\nword\n", turn.NotUTF8, "0xd6 at byte offset 3"},
		"E10 UTF-16LE with BOM":         {"\xff\xfew\x00o\x00r\x00d\x00", turn.NotUTF8, "UTF-16"},
		"E10 UTF-16BE with BOM":         {"\xfe\xff\x00w\x00o\x00r\x00d", turn.NotUTF8, "UTF-16"},
		"E10 UTF-16LE, far East":        {"\xff\xfe\x2d\x4e", turn.NotUTF8, "0xff at byte offset 0"},
		"E11 a NUL near the beginning":  {"wo\x00rd word\n", turn.NotUTF8, "NUL byte stands at byte offset 2"},
		"E11 a NUL at the end":          {strings.Repeat("word\n", 4000) + "\x00", turn.NotUTF8, "byte offset 20000"},
		"E20 two matches":               {"word\nx\nword\n", turn.EditNotUnique, "2 times, beginning in the lines 1, 3"},
		"E20 two in one line":           {"word word\n", turn.EditNotUnique, "2 times, beginning in the lines 1, 1"},
		"E20 very many":                 {strings.Repeat("word\n", 1234), turn.EditNotUnique, "1,234 times, beginning in the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …"},
		"an empty file":                 {"", turn.EditNotFound, "does not hold"},
		"only a byte order mark":        {bom, turn.EditNotFound, "does not hold"},
		"not there":                     {"something else\n", turn.EditNotFound, "does not hold"},
		"with other case in the middle": {"some WORD\n", turn.EditNotFound, "upper and lower case from line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.write("work/e.txt", c.text)
			f.refused("Edit", args{"file_path": "e.txt", "old_string": "word", "new_string": "other"}, c.code, c.says)
			if c.code == turn.NotUTF8 {
				f.refused("Write", args{"file_path": "e.txt", "content": "new\n"}, c.code, c.says)
			}
		})
	}
}

func TestEditOfOverlappingMatchesIsNotUnique(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "aaa\n")
	f.refused("Edit", args{"file_path": "e.txt", "old_string": "aa", "new_string": "b"}, turn.EditNotUnique, "2 times")
	f.wrote("Edit", args{"file_path": "e.txt", "old_string": "aa", "new_string": "b", "replace_all": true}, "work/e.txt")
	if got := f.read("work/e.txt"); got != "ba\n" {
		t.Error(got)
	}
}

func TestReplaceAll(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "a\r\nb a\na\r\n")
	r := f.wrote("Edit", args{"file_path": "e.txt", "old_string": "a", "new_string": "x\ny", "replace_all": true}, "work/e.txt")
	if got := f.read("work/e.txt"); got != "x\r\ny\r\nb x\ny\nx\r\ny\r\n" || !strings.Contains(r.Text, "3 replacements") {
		t.Errorf("%q: %s", got, r.Text)
	}
	f.write("work/e.txt", strings.Repeat("line a\n", 500))
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "a\n", "new_string": "b", "replace_all": true}, "work/e.txt")
	if got := f.read("work/e.txt"); got != strings.Repeat("line b", 500) {
		t.Error(clip(got, 200))
	}
	if !strings.Contains(r.Text, "[497 more replacements not shown]") {
		t.Error(r.Text)
	}
}

func TestEditThatChangesNothingIsRefused(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "one\r\ntwo\n")
	for _, a := range []args{
		{"old_string": "one", "new_string": "one"},             // E23
		{"old_string": "absent", "new_string": "absent"},       // even if it is not there
		{"old_string": "one\n", "new_string": "one\r\n"},       // only the line end
		{"old_string": "one\r\ntwo", "new_string": "one\ntwo"}, // as it is
		{"old_string": "two", "new_string": "two", "replace_all": true},
	} {
		a["file_path"] = "e.txt"
		f.refused("Edit", a, turn.EditNoChange)
	}
	for _, a := range []string{
		`{"file_path":"e.txt","old_string":"","new_string":"x"}`, // E22
		`{"file_path":"e.txt","old_string":"x"}`,
		`{"file_path":"e.txt","old_string":"x","new_string":"y\u0000"}`,
		`{"file_path":"e.txt","old_string":"x","new_string":"\ud83d"}`,
		`{"file_path":"e.txt/","old_string":"x","new_string":"y"}`,
		`{"file_path":"e.txt","old_string":"x","new_string":"y","expected_sha256":"ABC"}`,
	} {
		if _, err := f.e.Check(f.scope, "Edit", []byte(a)); err == nil {
			t.Errorf("%s was accepted", a)
		}
	}
	f.refused("Edit", args{"file_path": "none.txt", "old_string": "a", "new_string": "b"}, turn.NotFound, "Write creates files")
	f.refused("Edit", args{"file_path": "no/folder/none.txt", "old_string": "a", "new_string": "b"}, turn.NotFound)
}

// TestExpectedHashIsOfTheWholeFile is E37: what counts is the content, not the
// time, and an edit elsewhere counts although old_string still is unique.
func TestExpectedHashIsOfTheWholeFile(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "one\ntwo\n")
	read := hashOf([]byte("one\ntwo\n"))
	f.write("work/e.txt", "one\ntwo\nthree\n")
	now := hashOf([]byte("one\ntwo\nthree\n"))
	for name, a := range map[string]args{
		"Edit":  {"file_path": "e.txt", "old_string": "one", "new_string": "1", "expected_sha256": read},
		"Write": {"file_path": "e.txt", "content": "x", "expected_sha256": read},
	} {
		f.refused(name, a, turn.FileChanged, now)
		f.write("work/e.txt", "one\ntwo\n") // another time, the same bytes
		f.wrote(name, a, "work/e.txt")
		f.write("work/e.txt", "one\ntwo\nthree\n")
	}
	f.refused("Write", args{"file_path": "new.txt", "content": "x", "expected_sha256": read}, turn.FileChanged, "does not exist")
}

func TestEditTellsWhereAndWhatIsThereNow(t *testing.T) {
	f := newFixture(t).writing()
	var text strings.Builder
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	f.write("work/e.txt", text.String())
	r := f.wrote("Edit", args{"file_path": "e.txt", "old_string": "line 20\n", "new_string": "twenty\nand more\n"}, "work/e.txt")
	if !strings.HasSuffix(r.Text, "1 replacement.\nLines 17-24 are now:\nline 17\nline 18\nline 19\ntwenty\nand more\nline 21\nline 22\nline 23") {
		t.Error(r.Text)
	}
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "line 1\nline 2\n", "new_string": ""}, "work/e.txt")
	if !strings.HasSuffix(r.Text, "Lines 1-4 are now:\nline 3\nline 4\nline 5\nline 6") {
		t.Error(r.Text)
	}
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "line 40", "new_string": "end"}, "work/e.txt")
	if !strings.HasSuffix(r.Text, "Lines 36-39 are now:\nline 37\nline 38\nline 39\nend") {
		t.Error(r.Text)
	}
	f.write("work/e.txt", strings.Repeat("\U0001F600", 1<<16)+"needle"+strings.Repeat("\U0001F600", 1<<16)+"\n")
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "needle", "new_string": "pin"}, "work/e.txt")
	if !strings.Contains(r.Text, "\U0001F600pin\U0001F600") || len(r.Text) > 2000 || !strings.Contains(r.Text, "[line of 524,291 bytes]") {
		t.Error(clip(r.Text, 2000))
	}
	f.write("work/e.txt", "start\nend\n")
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "start\n", "new_string": text.String() + text.String()}, "work/e.txt")
	if !strings.Contains(r.Text, "[51 lines not shown]") || !strings.HasSuffix(r.Text, "line 40\nend") {
		t.Error(r.Text)
	}
	f.write("work/e.txt", "all")
	r = f.wrote("Edit", args{"file_path": "e.txt", "old_string": "all", "new_string": ""}, "work/e.txt")
	if !strings.HasSuffix(r.Text, "The text is empty now.") {
		t.Error(r.Text)
	}
}

// TestEditUpToItsLimit has one file of 64 MiB, and one of a byte more.
func TestEditUpToItsLimit(t *testing.T) {
	f := newFixture(t).writing()
	text := strings.Repeat("0123456789abcde\n", maxWrite/16-1) + "the last line.16"
	f.write("work/e.txt", text)
	edit := args{"file_path": "e.txt", "old_string": "last", "new_string": "longer"}
	if r := f.run("Edit", edit); r.Code != turn.TooLarge || len(f.intents) != 0 || !strings.Contains(r.Text, "would have 67,108,866 bytes") {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
	edit["new_string"] = "LAST"
	if r := f.ok("Edit", edit); r.Write.PostSHA256 != hashOf([]byte(f.read("work/e.txt"))) || !strings.HasSuffix(f.read("work/e.txt"), "the LAST line.16") {
		t.Errorf("%+v", r.Write)
	}
	if err := os.Truncate(f.path("work/e.txt"), maxWrite+1); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]args{"Edit": edit, "Write": {"file_path": "e.txt", "content": "LAST"}} {
		if r := f.run(name, a); r.Code != turn.TooLarge || len(f.intents) != 1 || !strings.Contains(r.Text, "67,108,865") {
			t.Errorf("%s: %s: %s", name, r.Code, r.Text)
		}
	}
}
