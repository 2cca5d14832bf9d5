package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/text/width"
)

// speaker is who a line of the story belongs to.
type speaker string

const (
	user     speaker = "you"
	chatGPT  speaker = "ChatGPT"
	claude   speaker = "Claude"
	receipt  speaker = "receipt"
	gatewayS speaker = "gateway"
	demoS    speaker = "demo"
)

// colours are ANSI codes; a speaker without one is plain.
var colours = map[speaker]string{
	user: "1", chatGPT: "32", claude: "35", receipt: "36", gatewayS: "33", demoS: "2",
}

// The columns of a line: when, who, what.
const (
	whenWidth    = 8
	whoWidth     = 8
	indent       = whenWidth + 2 + whoWidth + 1
	defaultWidth = 88
	minWidth     = indent + 24
	maxWidth     = 120
	// showLines is how much of a result is shown, and showAgain how much of one
	// that was shown before.
	showLines, showAgain = 14, 4
)

// teller writes the story, wrapped and in columns. Text from files is shown
// with its control characters replaced, since it goes to a terminal. It keeps
// the first write error, calls unheard, and then says nothing more.
type teller struct {
	out io.Writer
	// unheard is called once, by the first write that fails.
	unheard func()
	width   int
	color   bool
	began   time.Time
	err     error
}

func newTeller(out io.Writer, color bool, unheard func()) *teller {
	return &teller{out: out, unheard: unheard, width: widthOf(out), color: color, began: time.Now()}
}

// widthOf is the width of the terminal that w is, or a readable one.
func widthOf(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return defaultWidth
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return defaultWidth
	}
	return min(max(int(size.Col), minWidth), maxWidth)
}

func (t *teller) line(s string) {
	if t.err != nil {
		return
	}
	if _, t.err = fmt.Fprintln(t.out, strings.TrimRight(s, " ")); t.err != nil {
		t.unheard()
	}
}

func (t *teller) paint(code, s string) string {
	if !t.color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// heading starts a part of the story.
func (t *teller) heading(s string) {
	t.line("")
	for i, part := range wrap(s, t.width) {
		if i == 0 {
			part += " "
			part += strings.Repeat("─", max(0, t.width-cells(part)))
		}
		t.line(t.paint("1", part))
	}
}

// say writes one line of the story: the time since the beginning, who, what.
func (t *teller) say(who speaker, format string, args ...any) {
	when := fmt.Sprintf("%*s", whenWidth, fmt.Sprintf("%.2f s", time.Since(t.began).Seconds()))
	name := fmt.Sprintf("%-*s", whoWidth, who)
	for i, part := range wrap(clean(fmt.Sprintf(format, args...)), t.width-indent) {
		if i == 0 {
			t.line(t.paint("2", when) + "  " + t.paint(colours[who], name) + " " + part)
		} else {
			t.line(strings.Repeat(" ", indent) + part)
		}
	}
}

// show writes text below the last line, behind a bar, at most lines of it. What
// is left out is counted.
func (t *teller) show(text string, lines int) {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range all {
		if i == lines {
			t.line(strings.Repeat(" ", indent) + t.paint("2", fmt.Sprintf("┆ %s", count(len(all)-i, "more line"))))
			return
		}
		t.line(strings.Repeat(" ", indent) + t.paint("2", "│ "+cut(clean(line), t.width-indent-2)))
	}
}

// paragraph writes text by itself.
func (t *teller) paragraph(s string) {
	for _, part := range wrap(s, t.width) {
		t.line(part)
	}
}

// summary ends the story.
func (t *teller) summary(all tally) {
	t.heading("All of it was checked")
	t.paragraph(fmt.Sprintf("%s, %s, %s with one receipt each (%s, digests recomputed), %s of the gateway with its recovery.",
		count(all.sessions, "session"), count(all.turns, "turn"), count(all.actions, "tool call"),
		count(int(all.bytes), "byte"), count(all.kills, "kill")))
	t.paragraph("Nothing is left behind: no process, no socket, no temporary file.")
}

// clean makes text safe for a terminal: tabs become spaces, other control
// characters a dot.
func clean(s string) string {
	s = strings.ReplaceAll(s, "\t", "    ")
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
}

// cells is how many columns a terminal gives to s.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	return 1
}

// cut shortens s to n columns, ending in an ellipsis if something is missing.
func cut(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	return prefix(s, n-1) + "…"
}

// prefix is the longest beginning of s that fits into n columns.
func prefix(s string, n int) string {
	used := 0
	for i, r := range s {
		if used += cellsOf(r); used > n {
			return s[:i]
		}
	}
	return s
}

// wrap breaks s into lines of at most n columns: at spaces, or anywhere in a
// word that is longer than a line.
func wrap(s string, n int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && cells(line)+1+cells(word) > n {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
			for cells(line) > n {
				head := prefix(line, n)
				lines, line = append(lines, head), line[len(head):]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(int64(n)) + " " + noun + "s"
}

// grouped writes a number with a comma every three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
