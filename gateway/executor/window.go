package executor

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// window keeps the wanted lines of a text that passes through it, up to room
// bytes, and counts all lines.
type window struct {
	first, limit, column int64 // wanted; limit 0 means as many as fit
	room                 int

	// lines counts those begun so far; atStart says that the next byte begins
	// one.
	lines   int64
	atStart bool
	kept    []byte
	// full says that something that was wanted did not fit.
	full bool
	// cutLine is the first line that is not shown whole, cutBytes how many of
	// its bytes were shown or skipped by column, cutLength how many it has.
	cutLine, cutBytes, cutLength int64
	lineBytes                    int64 // of the present line so far
	firstLineBytes               int64
	columnMissed                 bool
	// partial says that the text was not read to its end.
	partial bool
}

func (w *window) want(offset, limit, column int64, room int) {
	w.first, w.limit, w.column, w.room = max(offset, 1), limit, max(column, 1), room
	w.atStart = true
}

// last is the last wanted line, or 0 for no limit.
func (w *window) last() int64 {
	if w.limit == 0 || w.first > turn.MaxInteger-w.limit {
		return 0
	}
	return w.first + w.limit - 1
}

// add passes the next bytes through.
func (w *window) add(b []byte) {
	for len(b) > 0 {
		if w.atStart {
			w.lines++
			w.atStart = false
			w.lineBytes = 0
		}
		if w.skipping() && w.lines != w.cutLine && w.lines != w.first {
			b = w.skip(b)
			continue
		}
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line = b[:i+1]
			w.atStart = true
		}
		w.take(line)
		b = b[len(line):]
	}
}

// done reports whether nothing more can be kept.
func (w *window) done() bool {
	last := w.last()
	return w.full || last > 0 && w.lines > last
}

// skipping reports whether the present line is not wanted, or cannot be kept.
func (w *window) skipping() bool {
	return w.lines < w.first || w.done()
}

// skip counts lines without looking at each: whole ones only.
func (w *window) skip(b []byte) []byte {
	if w.lines >= w.first {
		// Nothing after the window matters but how many lines there are.
		n := int64(bytes.Count(b, []byte{'\n'}))
		w.atStart = b[len(b)-1] == '\n'
		w.lines += n
		if w.atStart {
			w.lines--
		}
		return nil
	}
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil
	}
	w.atStart = true
	return b[i+1:]
}

// take keeps a piece of a wanted line as far as it fits.
func (w *window) take(line []byte) {
	begin := w.lineBytes
	w.lineBytes += int64(len(line))
	if w.lines == w.first {
		w.firstLineBytes = w.lineBytes
		if skip := w.column - 1 - begin; skip > 0 {
			if skip >= int64(len(line)) {
				return
			}
			line = line[skip:]
		}
		// A column inside a character moves on to the next one.
		for w.column > 1 && len(w.kept) == 0 && len(line) > 0 && !utf8.RuneStart(line[0]) {
			line = line[1:]
		}
	}
	if w.full && w.lines == w.cutLine {
		w.cutLength = w.lineBytes
	}
	if w.skipping() {
		return
	}
	if room := w.room - len(w.kept); len(line) > room {
		w.kept = append(w.kept, line[:room]...)
		w.full = true
		w.cutLine = w.lines
		w.cutBytes, w.cutLength = w.lineBytes-int64(len(line)-room), w.lineBytes
		return
	}
	w.kept = append(w.kept, line...)
}

// end is called after the last byte.
func (w *window) end() {
	if w.full && len(w.kept) > 0 {
		// Not a part of a character.
		if n := trimPartial(w.kept); n < len(w.kept) {
			w.cutBytes -= int64(len(w.kept) - n)
			w.kept = w.kept[:n]
		}
	}
	w.columnMissed = w.column > w.firstLineBytes
}

// trimPartial returns the length of b without a character that is cut off at
// its end.
func trimPartial(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// lastShown is the last line of which something is shown.
func (w *window) lastShown() int64 {
	if w.full {
		if w.cutBytes == 0 && w.cutLine > w.first {
			return w.cutLine - 1
		}
		return w.cutLine
	}
	if last := w.last(); last > 0 {
		return min(last, w.lines)
	}
	return w.lines
}

// more is the last line of an answer that does not hold all that was wanted, or
// that stops before the end of the file because of limit.
func (w *window) more() string {
	switch {
	case w.full && w.cutBytes == 0:
		return fmt.Sprintf("[cut: the answer is full%s; read on with offset %d]", w.rest(w.cutLine-1), w.cutLine)
	case w.full:
		return fmt.Sprintf("[cut: the answer is full inside line %d, of which %s more%s; read on with offset %d and column %d]",
			w.cutLine, areBytes(w.cutLength-w.cutBytes, w.partial), w.rest(w.cutLine), w.cutLine, w.cutBytes+1)
	}
	if last := w.last(); last > 0 && last < w.lines {
		return fmt.Sprintf("[limit reached%s; read on with offset %d]", w.rest(last), last+1)
	}
	return ""
}

// rest says how many lines follow.
func (w *window) rest(shown int64) string {
	n := w.lines - shown
	switch {
	case w.partial:
		return ", more lines follow"
	case n == 0:
		return ", no line follows"
	case n == 1:
		return ", 1 more line follows"
	}
	return fmt.Sprintf(", %s more lines follow", digits(n))
}

func areBytes(n int64, atLeast bool) string {
	s := "there is " + count(n, "byte")
	if n != 1 {
		s = "there are " + count(n, "byte")
	}
	if atLeast {
		s = "there are at least " + count(n, "byte")
	}
	return s
}
