package executor

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

func TestReadShowsBytesAsTheyAre(t *testing.T) {
	f := newFixture(t)
	for name, text := range map[string]string{
		"plain": "one\ntwo\n", "tabs": "\tif x:\t\t# y\n    z\n", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\nc\rd\r\n", "noend": "a\nb", "blank": "\n\n\n",
		"trailing": "a  \nb\t\n", "unicode": "ä€😀e\u0301\u202e\n", "control": "\x01\x1b[31m\x7f\n", "only newline": "\n", "space": " ",
	} {
		f.write("work/"+name, text)
		r := f.ok("Read", args{"file_path": name})
		if body(r) != text || r.Truncated {
			t.Errorf("%s: %q became %q", name, text, body(r))
		}
		head, _, _ := strings.Cut(r.Text, "\n")
		for _, want := range []string{f.path("work/" + name), fmt.Sprintf("%x", sha256.Sum256([]byte(text))), count(int64(len(text)), "byte")} {
			if !strings.Contains(head, want) {
				t.Errorf("%s: the header %q lacks %q", name, head, want)
			}
		}
	}
}

func TestReadHidesTheByteOrderMark(t *testing.T) {
	f := newFixture(t)
	f.write("work/bom", "\uFEFFone\n\uFEFFtwo\n")
	r := f.ok("Read", args{"file_path": "bom"})
	if body(r) != "one\n\uFEFFtwo\n" || !strings.Contains(r.Text, "UTF-8 with BOM") || !strings.Contains(r.Text, "lines 1-2 of 2, 14 bytes") {
		t.Error(r.Text)
	}
}

func TestReadByLines(t *testing.T) {
	f := newFixture(t)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	f.write("work/f", text.String())
	f.write("work/empty", "")
	for _, c := range []struct {
		a    args
		head string
		want string
	}{
		{args{"offset": 3, "limit": 2}, "lines 3-4 of 1000", "line 3\nline 4\n[limit reached, 996 more lines follow; read on with offset 5]"},
		{args{"offset": 999}, "lines 999-1000 of 1000", "line 999\nline 1000\n"},
		{args{"offset": 1000, "limit": 1}, "lines 1000-1000 of 1000", "line 1000\n"},
		{args{"offset": 998, "limit": 2}, "lines 998-999 of 1000", "line 998\nline 999\n[limit reached, 1 more line follows; read on with offset 1000]"},
		{args{"offset": 1000, "limit": turn.MaxInteger}, "lines 1000-1000 of 1000", "line 1000\n"},
		{args{"offset": 1000, "column": 6, "limit": 1}, "lines 1000-1000 of 1000, from byte 6 of line 1000", "1000\n"},
	} {
		c.a["file_path"] = "f"
		if r := f.ok("Read", c.a); body(r) != c.want || !strings.Contains(r.Text, c.head) {
			t.Errorf("%v: %s", c.a, r.Text)
		}
	}
	if r := f.ok("Read", args{"file_path": "empty"}); !strings.Contains(r.Text, "empty, 0 lines, 0 bytes") || body(r) != "" {
		t.Error(r.Text)
	}
	for _, c := range []struct {
		a    args
		says string
	}{
		{args{"file_path": "f", "offset": 1001}, "has 1,000 lines; line 1001 does not exist"},
		{args{"file_path": "f", "offset": turn.MaxInteger}, "has 1,000 lines"},
		{args{"file_path": "empty", "offset": 2}, "has 0 lines"},
		{args{"file_path": "f", "offset": 10, "column": 50}, "has 8 bytes; column 50 does not exist"},
	} {
		if r := f.run("Read", c.a); r.Code != turn.OutOfRange || !strings.Contains(r.Text, c.says) {
			t.Errorf("%v: %s %s", c.a, r.Code, r.Text)
		}
	}
}

var readOn = regexp.MustCompile(`\[(?:cut|limit reached).*read on with offset (\d+)(?: and column (\d+))?\]$`)

// TestReadingOnGivesTheWholeFile follows the last line of each answer and puts
// the parts together.
func TestReadingOnGivesTheWholeFile(t *testing.T) {
	f := newFixture(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", " ", "\t", "ä", "€", "😀", "\r", "]", "\n"}
	for round := range 8 {
		var b strings.Builder
		newline := []int{1, 20, 200, 30000, 1 << 30}[rnd.IntN(5)]
		for size := 1 + rnd.IntN(300_000); b.Len() < size; {
			if rnd.IntN(newline+1) == 0 {
				b.WriteByte('\n')
			} else {
				b.WriteString(alphabet[rnd.IntN(len(alphabet)-1)])
			}
		}
		text := b.String()
		f.write("work/f", text)
		var got strings.Builder
		a := args{"file_path": "f"}
		answers := 0
		for {
			if answers++; answers > 100 {
				t.Fatalf("round %d: no end", round)
			}
			if rnd.IntN(3) == 0 {
				a["limit"] = 1 + rnd.IntN(400)
			}
			r := f.ok("Read", a)
			part := body(r)
			m := readOn.FindStringSubmatch(part)
			if m == nil {
				if r.Truncated {
					t.Fatal("cut without a way on")
				}
				got.WriteString(part)
				break
			}
			part = strings.TrimSuffix(part, m[0])
			if len(part) < 1000 && a["limit"] == nil {
				t.Fatalf("round %d: only %d bytes in a full answer", round, len(part))
			}
			offset, _ := strconv.Atoi(m[1])
			a = args{"file_path": "f", "offset": offset}
			if m[2] != "" {
				// Inside a line: the newline before the remark is not the file's.
				part = strings.TrimSuffix(part, "\n")
				column, _ := strconv.Atoi(m[2])
				a["column"] = column
			}
			got.WriteString(part)
		}
		if got.String() != text {
			t.Fatalf("round %d: %d bytes became %d", round, len(text), got.Len())
		}
	}
}

func TestReadCutsBetweenCharacters(t *testing.T) {
	f := newFixture(t)
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("😀", 100_000)
		f.write("work/f", text)
		r := f.ok("Read", args{"file_path": "f"})
		shown, _, _ := strings.Cut(body(r), "\n")
		if !r.Truncated || !strings.HasPrefix(text, shown) || !utf8.ValidString(shown) || len(shown) < 60_000 {
			t.Errorf("shift %d: %d bytes shown", shift, len(shown))
		}
		if want := fmt.Sprintf("there are %s more", count(int64(len(text)-len(shown)), "byte")); !strings.Contains(r.Text, want) {
			t.Errorf("shift %d: no %q in %s", shift, want, r.Text[len(r.Text)-200:])
		}
	}
	f.write("work/f", "ab😀cd\n")
	if r := f.ok("Read", args{"file_path": "f", "column": 4}); body(r) != "cd\n" {
		t.Errorf("a column inside a character: %q", body(r))
	}
}

func TestReadMarksBinaryFiles(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		text string
		at   int
	}{
		"start": {"\x00abc", 0}, "late": {strings.Repeat("x", 700_000) + "\x00", 700_000}, "utf16": {"\xff\xfeh\x00i\x00", 3}, "elf": {"\x7fELF\x02\x01\x01\x00\xff", 7}, "bad first": {"\xff\x00", 1},
	} {
		f.write("work/b", c.text)
		r := f.ok("Read", args{"file_path": "b"})
		for _, want := range []string{"binary, not shown", fmt.Sprintf("byte offset %d", c.at), fmt.Sprintf("%x", sha256.Sum256([]byte(c.text))), count(int64(len(c.text)), "byte")} {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: %q lacks %q", name, r.Text, want)
			}
		}
		if strings.Contains(r.Text, "UTF-16") != (name == "utf16") {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

func TestReadRefusesWhatIsNotUTF8(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		text     string
		at, line int
		bad      byte
	}{
		"windows-1252": {"first\nprice \x99 5\n", 12, 2, 0x99}, "cut off": {"abc\xe2\x82", 3, 1, 0xe2}, "overlong": {"\xc0\xaf", 0, 1, 0xc0}, "surrogate": {"a\n\xed\xa0\x80", 2, 2, 0xed},
		"far": {strings.Repeat("ä\n", 200_000) + "\xff", 600_000, 200_001, 0xff}, "at a chunk's edge": {strings.Repeat("x", chunk-1) + "\xe2\x82x", chunk - 1, 1, 0xe2}, "bom": {"\uFEFFx\xfe", 4, 1, 0xfe},
	} {
		f.write("work/b", c.text)
		r := f.run("Read", args{"file_path": "b"})
		want := fmt.Sprintf("first bad byte is 0x%02x at byte offset %d (line %d)", c.bad, c.at, c.line)
		if r.Code != turn.NotUTF8 || !strings.Contains(r.Text, want) || !strings.Contains(r.Text, fmt.Sprintf("%x", sha256.Sum256([]byte(c.text)))) {
			t.Errorf("%s: %s %s; want %q", name, r.Code, r.Text, want)
		}
	}
	edge := strings.Repeat("x", chunk-1) + "€" + strings.Repeat("x", chunk-1) + "😀\n"
	f.write("work/b", edge)
	f.ok("Read", args{"file_path": "b"})
}

func TestReadOfAHugeFileStopsWhereTheAnswerIsFull(t *testing.T) {
	f := newFixture(t)
	f.write("work/huge", strings.Repeat("0123456789abcde\n", 16*1024))
	if err := os.Truncate(f.path("work/huge"), wholeFile+4*chunk); err != nil {
		t.Fatal(err)
	}
	// A hole is NUL bytes, so this is a binary file that is not hashed.
	r := f.ok("Read", args{"file_path": "huge"})
	if !strings.Contains(r.Text, "binary") || !strings.Contains(r.Text, "not computed for files over 256 MiB") || !strings.Contains(r.Text, digits(wholeFile+4*chunk)) {
		t.Error(r.Text)
	}
	w := &window{}
	w.want(2, 0, 1, 100)
	for range 50 {
		w.add([]byte(strings.Repeat("y", 30) + "\n"))
	}
	w.partial = true
	w.end()
	if !w.done() || w.more() != "[cut: the answer is full inside line 5, of which there are at least 24 bytes more, more lines follow; read on with offset 5 and column 8]" {
		t.Error(w.more())
	}
}
