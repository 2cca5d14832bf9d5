package executor

import (
	"bytes"
	"slices"
	"strings"
)

// flatText is a text in which every line ends in LF, with the way back to the
// bytes of the file. Texts are found in it whatever their lines end in, and a
// line end is never taken apart.
type flatText struct {
	raw  []byte // without byte order mark
	flat []byte
	// end is cr if CR alone ends the lines of this file, else lf.
	end lineEnd
	// wide are the offsets in flat of line ends that are CRLF in raw.
	wide []int32
}

// flatten takes at most 2 GiB.
func flatten(raw []byte) *flatText {
	t := &flatText{raw: raw, flat: raw, end: lf}
	if bytes.IndexByte(raw, '\r') < 0 {
		return t
	}
	if bytes.IndexByte(raw, '\n') < 0 {
		t.end, t.flat = cr, bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
		return t
	}
	t.flat = make([]byte, 0, len(raw))
	for rest := raw; ; {
		i := bytes.Index(rest, []byte("\r\n"))
		if i < 0 {
			t.flat = append(t.flat, rest...)
			return t
		}
		t.flat = append(t.flat, rest[:i]...)
		t.wide = append(t.wide, int32(len(t.flat)))
		t.flat = append(t.flat, '\n')
		rest = rest[i+2:]
	}
}

// like flattens another text in the same way.
func (t *flatText) like(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if t.end == cr {
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return s
}

// rawAt is where the byte at offset i of flat stands in raw.
func (t *flatText) rawAt(i int) int {
	n, _ := slices.BinarySearch(t.wide, int32(i))
	return i + n
}

// endAt is the line end at offset i of flat.
func (t *flatText) endAt(i int) lineEnd {
	if t.end == cr {
		return cr
	}
	if _, wide := slices.BinarySearch(t.wide, int32(i)); wide {
		return crlf
	}
	return lf
}

// ends are the line ends between two offsets of flat.
func (t *flatText) ends(from, to int) []lineEnd {
	var all []lineEnd
	for i := from; ; i++ {
		n := bytes.IndexByte(t.flat[i:to], '\n')
		if n < 0 {
			return all
		}
		i += n
		all = append(all, t.endAt(i))
	}
}

// endNear is the line end that new lines get which replace none, between two
// offsets of flat inside what an edit names, from and to: the one before, else
// the one after, first inside, then around. It is "" in a text of one line.
func (t *flatText) endNear(from, start, stop, to int) lineEnd {
	before := func(from, to int) int { return lastIndexFrom(t.flat, from, to) }
	after := func(from, to int) int {
		if i := bytes.IndexByte(t.flat[from:to], '\n'); i >= 0 {
			return from + i
		}
		return -1
	}
	for _, i := range []int{before(from, start), after(stop, to), after(to, len(t.flat)), before(0, from)} {
		if i >= 0 {
			return t.endAt(i)
		}
	}
	return ""
}

// lastIndexFrom is the last LF in b[from:to], or -1.
func lastIndexFrom(b []byte, from, to int) int {
	if i := bytes.LastIndexByte(b[from:to], '\n'); i >= 0 {
		return from + i
	}
	return -1
}

// line counts the lines up to offset i of flat: the number of its line.
func (t *flatText) line(i int) int64 { return 1 + int64(bytes.Count(t.flat[:i], []byte{'\n'})) }

// splice is one replaced span of raw.
type splice struct {
	from, to int
	text     string
}

// splice replaces the text old of flat at offset at by new. Of what both begin
// and end with nothing is touched. The lines of new end like those that they
// replace, one after the other, and further ones like the last of those.
func (t *flatText) splice(at int, old, new string) splice {
	p := commonPrefix(old, new)
	q := commonSuffix(old[p:], new[p:])
	start, stop := at+p, at+len(old)-q
	middle := new[p : len(new)-q]
	s := splice{from: t.rawAt(start), to: t.rawAt(stop), text: middle}
	if !strings.Contains(middle, "\n") {
		return s
	}
	ends := t.ends(start, stop)
	if len(ends) == 0 {
		end := t.endNear(at, start, stop, at+len(old))
		if end == "" {
			return s
		}
		ends = []lineEnd{end}
	}
	if slices.ContainsFunc(ends, func(e lineEnd) bool { return e != lf }) {
		s.text = withEnds(middle, ends)
	}
	return s
}

// withEnds gives the lines of a flat text these ends, the last one to all that
// follow.
func withEnds(text string, ends []lineEnd) string {
	var b strings.Builder
	for i := 0; ; i++ {
		line, rest, more := strings.Cut(text, "\n")
		b.WriteString(line)
		if !more {
			return b.String()
		}
		b.WriteString(string(ends[min(i, len(ends)-1)]))
		text = rest
	}
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
