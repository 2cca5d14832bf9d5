package executor

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"deckhand/gateway/turn"
)

// notebookText is a notebook as it stands in its file: what is changed is
// spliced into it, and every other byte stays.
type notebookText struct {
	raw   []byte // without byte order mark
	list  jsonValue
	cells []cellText
	minor int // of nbformat 4
	ascii bool
}

// cellText is one cell of it.
type cellText struct {
	jsonValue
	kind   string // cell_type
	id     *string
	handle string
}

// parseNotebook finds the cells of a notebook of format 4.
func parseNotebook(name string, raw []byte) (*notebookText, error) {
	refuse := func(format string, args ...any) error {
		return turn.Refuse(turn.NotANotebook, "%s is not changed: %s", name, fmt.Sprintf(format, args...))
	}
	top, err := scanJSON(raw)
	if err != nil {
		return nil, refuse("it is no valid notebook: %s", err)
	}
	if top.kind != '{' {
		return nil, refuse("it is no valid notebook: not a JSON object")
	}
	format, _ := top.member("nbformat")
	major, err := format.whole(raw)
	if err != nil {
		return nil, refuse("it is no valid notebook: nbformat is missing or no number")
	}
	if major != 4 {
		return nil, refuse("it is a notebook of format %d; only format 4 is supported, and nothing is converted", major)
	}
	n := &notebookText{raw: raw, ascii: writtenInASCII(raw)}
	minor, _ := top.member("nbformat_minor")
	if n.minor, err = minor.whole(raw); err != nil {
		return nil, refuse("it is no valid notebook: nbformat_minor is missing or no number")
	}
	var ok bool
	if n.list, ok = top.member("cells"); !ok || n.list.kind != '[' {
		return nil, refuse("it is no valid notebook: it has no list of cells")
	}
	var named []notebookCell
	for i, item := range n.list.items {
		c := cellText{jsonValue: item}
		kind, _ := item.member("cell_type")
		if c.kind, ok = kind.text(raw); !ok {
			return nil, refuse("it is no valid notebook: cell %d has no cell_type", i+1)
		}
		if id, ok := item.member("id"); ok {
			if text, ok := id.text(raw); ok {
				c.id = &text
			}
		}
		n.cells = append(n.cells, c)
		named = append(named, notebookCell{ID: c.id})
	}
	for i, handle := range cellHandles(named) {
		n.cells[i].handle = handle
	}
	return n, nil
}

var escapedLetter = regexp.MustCompile(`[^\\](\\\\)*\\u(00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])`)

// writtenInASCII reports whether whoever wrote a notebook escapes letters that
// are not ASCII.
func writtenInASCII(raw []byte) bool {
	for _, c := range raw {
		if c >= 0x80 {
			return false
		}
	}
	return bytes.Contains(raw, []byte(`\u`)) && escapedLetter.Match(raw)
}

// find returns the index of the cell that a handle of Read names. An id counts
// before a position, and one that two cells have names neither.
func (n *notebookText) find(name, handle string) (int, error) {
	same := 0
	for i, c := range n.cells {
		if c.handle == handle && !strings.HasPrefix(handle, noHandle) {
			return i, nil
		}
		if c.id != nil && *c.id == handle {
			same++
		}
	}
	if same > 1 {
		return 0, turn.Refuse(turn.CellNotFound, "%s cells of %s have the id %s; name the one that is meant by the handle that Read shows for it. %s", digits(int64(same)), name, showName(clip(handle, 80)), n.handles())
	}
	return 0, turn.Refuse(turn.CellNotFound, "%s has no cell with the handle %s. %s", name, showName(clip(handle, 80)), n.handles())
}

// handlesListed is how many handles an answer lists.
const handlesListed = 20

// handles lists the handles that there are.
func (n *notebookText) handles() string {
	if len(n.cells) == 0 {
		return "It has no cells"
	}
	var names []string
	for i, c := range n.cells {
		if i == handlesListed {
			names = append(names, fmt.Sprintf("and %d more", len(n.cells)-i))
			break
		}
		names = append(names, showName(clip(c.handle, 80)))
	}
	return "Its handles are: " + strings.Join(names, ", ")
}

// freshID makes an id that no cell has, in the form that Jupyter gives them.
func (n *notebookText) freshID() string {
	for {
		var b [4]byte
		rand.Read(b[:]) // never fails
		id := hex.EncodeToString(b[:])
		taken := false
		for _, c := range n.cells {
			taken = taken || c.id != nil && *c.id == id
		}
		if !taken {
			return id
		}
	}
}

// source returns the source of a cell.
func (n *notebookText) source(c cellText) (string, bool) {
	v, _ := c.member("source")
	if s, ok := v.text(n.raw); ok {
		return s, true
	}
	if v.kind != '[' {
		return "", false
	}
	var b strings.Builder
	for _, item := range v.items {
		s, ok := item.text(n.raw)
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// cellStyle is how the members of a cell are set apart.
type cellStyle struct {
	lead, gap, tail string // after {, between members, before }
	colon           string // between key and value
	// unit is how much deeper one more level is, and pretty says that levels
	// stand on lines of their own.
	unit   string
	pretty bool
}

// styleOf finds the style of a cell, or for a notebook without cells the one
// that goes with its outermost object.
func (n *notebookText) styleOf(c jsonValue) cellStyle {
	m := c.members
	s := cellStyle{lead: n.between(c.from+1, m[0].from), tail: n.between(m[len(m)-1].value.to, c.to-1)}
	s.gap = "," + s.lead
	if len(m) > 1 {
		s.gap = n.between(m[0].value.to, m[1].from)
	}
	s.colon = n.colon(m[0])
	if s.pretty = strings.Contains(s.lead, "\n"); s.pretty {
		inner, outer := afterLine(s.lead), afterLine(s.tail)
		s.unit = strings.TrimPrefix(inner, outer)
		if s.unit == inner && outer != "" {
			s.unit = " "
		}
	}
	return s
}

func (n *notebookText) between(from, to int) string { return string(n.raw[from:to]) }

// colon is what stands between key and value: a colon and white space.
func (n *notebookText) colon(m jsonMember) string {
	s := n.between(m.from, m.value.from)
	return s[strings.LastIndexByte(s, '"')+1:]
}

// afterLine is the white space after the last line end.
func afterLine(space string) string { return space[strings.LastIndexByte(space, '\n')+1:] }

// object writes an object of members that are written already.
func (s cellStyle) object(members [][2]string) string {
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = quoteJSON(m[0], true) + s.colon + m[1]
	}
	return "{" + s.lead + strings.Join(parts, s.gap) + s.tail + "}"
}

// list writes a member that is a list of lines.
func (s cellStyle) list(text string, ascii bool) string {
	lead, gap, tail := "", s.gap, ""
	if s.pretty {
		lead, tail = s.lead+s.unit, s.lead
		gap = "," + lead
	}
	return writeList(text, lead, gap, tail, ascii)
}

func writeList(text, lead, gap, tail string, ascii bool) string {
	if text == "" {
		return "[]"
	}
	var parts []string
	for line := range strings.Lines(text) {
		parts = append(parts, quoteJSON(line, ascii))
	}
	return "[" + lead + strings.Join(parts, gap) + tail + "]"
}

// rewrite writes new source in the form that the old value has: a string, or a
// list of lines set like the old one.
func (n *notebookText) rewrite(old jsonValue, text string, s cellStyle) string {
	if old.kind == '"' {
		return quoteJSON(text, n.ascii)
	}
	k := len(old.items)
	if k == 0 {
		return s.list(text, n.ascii)
	}
	lead, tail := n.between(old.from+1, old.items[0].from), n.between(old.items[k-1].to, old.to-1)
	gap := "," + lead
	switch {
	case k > 1:
		gap = n.between(old.items[0].to, old.items[1].from)
	case lead == "" && !s.pretty:
		gap = s.gap
	case lead == "":
		gap = ", "
	}
	return writeList(text, lead, gap, tail, n.ascii)
}
