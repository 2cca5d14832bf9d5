package executor

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what an answer shows of a changed file.
const (
	shownSpans    = 3
	shownAround   = 3   // lines before and after
	shownEnds     = 15  // from either end of a long span
	shownWidth    = 300 // bytes of one line
	shownAtChange = 100 // bytes before the change in a line that is longer
)

// showChange shows the lines of a text in which something was replaced, as they
// are now, with a few around. after is what splices made of a text that
// followed mark bytes.
func showChange(after newContent, mark int, splices []splice) string {
	after.head = after.head[mark:]
	text, at := after.around(shownAround)
	var b strings.Builder
	fmt.Fprintf(&b, "%s.", count(int64(len(splices)), "replacement"))
	shift, line, counted := -at, 1+int64(bytes.Count(after.head[:at], []byte{'\n'})), 0
	for i, s := range splices {
		from := s.from + shift
		shift += len(s.text) - (s.to - s.from)
		if i == shownSpans {
			fmt.Fprintf(&b, "\n[%s not shown]", count(int64(len(splices)-i), "more replacement"))
			break
		}
		line += int64(bytes.Count(text[counted:from], []byte{'\n'}))
		counted = from
		b.WriteByte('\n')
		showSpan(&b, text, from, from+len(s.text), line)
	}
	return b.String()
}

// showSpan shows the lines of text that the span from..to touches; line is the
// number of the first of them.
func showSpan(b *strings.Builder, text []byte, from, to int, line int64) {
	start := lineStart(text, from)
	for range shownAround {
		if start == 0 {
			break
		}
		start = lineStart(text, start-1)
		line--
	}
	stop := lineStop(text, to)
	if to > from && text[to-1] == '\n' {
		stop = to // the line after it is not touched
	}
	for range shownAround {
		stop = lineStop(text, stop)
	}
	lines := bytes.SplitAfter(text[start:stop], []byte{'\n'})
	if n := len(lines); len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	if len(lines) == 0 {
		b.WriteString("The text is empty now.")
		return
	}
	if len(lines) == 1 {
		fmt.Fprintf(b, "Line %d is now:", line)
	} else {
		fmt.Fprintf(b, "Lines %d-%d are now:", line, line+int64(len(lines))-1)
	}
	at := start
	for i, l := range lines {
		if cut := len(lines) - 2*shownEnds; cut > 0 && i == shownEnds {
			fmt.Fprintf(b, "\n[%s not shown]", count(int64(cut), "line"))
		}
		if len(lines) <= 2*shownEnds || i < shownEnds || i >= len(lines)-shownEnds {
			b.WriteByte('\n')
			b.WriteString(shownPart(l, from-at))
		}
		at += len(l)
	}
}

// shownPart cuts a long line around where the change begins in it.
func shownPart(line []byte, change int) string {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) <= shownWidth {
		return string(line)
	}
	from := 0
	if change > shownAtChange && change <= len(line) {
		from = change - shownAtChange
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	to := from + cutBefore(line[from:], shownWidth)
	s := string(line[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(line) {
		s += fmt.Sprintf("… [line of %s]", count(int64(len(line)), "byte"))
	}
	return s
}

// lineStart is the offset of the line that holds offset i.
func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

// lineStop is the offset behind the line end that follows offset i.
func lineStop(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}
