package demo

import (
	"strings"
	"testing"
)

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	var out strings.Builder
	tell := newTeller(&out, false, t.FailNow)
	for _, tell.width = range []int{minWidth, 60, defaultWidth} {
		tell.heading(strings.Repeat("a heading ", 20))
		tell.paragraph(strings.Repeat("text ", 60))
		tell.say(claude, "%s", strings.Repeat("x", 300)+" "+strings.Repeat("日本", 80))
		tell.show(strings.Repeat("w", 400)+"\n"+strings.Repeat("日", 200), 5)
		for line := range strings.Lines(out.String()) {
			if n := cells(strings.TrimSuffix(line, "\n")); n > tell.width {
				t.Errorf("a line takes %d columns of %d: %q", n, tell.width, line)
			}
		}
		out.Reset()
	}
}

func TestWrappingLosesNothing(t *testing.T) {
	for _, text := range []string{"", "one", "one two three", strings.Repeat("long", 40), "a 日本語日本語日本語 b", "two\nlines"} {
		got := strings.Join(wrap(text, 8), "")
		if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(text), "") &&
			strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\n", "") {
			t.Errorf("%q became %q", text, wrap(text, 8))
		}
	}
}

// TestATerminalIsNotCommandedByFiles: what is printed comes from files.
func TestATerminalIsNotCommandedByFiles(t *testing.T) {
	var out strings.Builder
	tell := newTeller(&out, false, t.FailNow)
	tell.show("\x1b]0;title\x07\x1b[2Jgone\r\u202eevil\u0085", 5)
	tell.say(chatGPT, "\x1b[31m%s", "red\x00")
	for _, r := range out.String() {
		if r != '\n' && (r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == '\u202e') {
			t.Errorf("%q reached the terminal in %q", r, out.String())
		}
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	var out strings.Builder
	tell := newTeller(&out, false, t.FailNow)
	tell.show("1\n2\n3\n4\n", 2)
	if !strings.Contains(out.String(), "2 more lines") || strings.Contains(out.String(), "│ 3") {
		t.Errorf("four lines were shown as %q", out.String())
	}
}
