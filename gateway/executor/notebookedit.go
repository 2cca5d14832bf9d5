package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deckhand/gateway/turn"
)

type notebookArguments struct {
	Path      string  `json:"notebook_path"`
	Mode      string  `json:"edit_mode"`
	Cell      string  `json:"cell_id"`
	Position  string  `json:"position"`
	Type      string  `json:"cell_type"`
	NewSource *string `json:"new_source"`
	Expected  string  `json:"expected_sha256"`
}

func (a notebookArguments) check() error {
	if err := checkFilePath("notebook_path", a.Path); err != nil {
		return err
	}
	switch {
	case !strings.HasSuffix(strings.ToLower(a.Path), ".ipynb"):
		return badArgument("notebook_path", "does not end in .ipynb; Edit and Write change other files")
	case a.Mode != "delete" && a.NewSource == nil:
		return badArgument("new_source", "is missing")
	case a.Mode == "delete" && a.NewSource != nil:
		return badArgument("new_source", "makes no sense with edit_mode delete")
	case a.Mode == "delete" && a.Type != "":
		return badArgument("cell_type", "makes no sense with edit_mode delete")
	case a.Mode == "insert":
		return a.checkInsert()
	case a.Position != "":
		return badArgument("position", "makes sense only with edit_mode insert")
	case a.Cell == "":
		return badArgument("cell_id", "is missing")
	}
	return nil
}

func (a notebookArguments) checkInsert() error {
	beside := a.Position == "before" || a.Position == "after"
	switch {
	case a.Position == "":
		return badArgument("position", "is missing: where to insert has no default")
	case a.Type == "":
		return badArgument("cell_type", "is missing: a new cell needs one")
	case beside && a.Cell == "":
		return badArgument("cell_id", "is missing: position %s needs the cell to insert beside", a.Position)
	case !beside && a.Cell != "":
		return badArgument("cell_id", "makes no sense with position %s", a.Position)
	}
	return nil
}

// notebookEdit changes one cell of a notebook.
func (e *Executor) notebookEdit(ctx context.Context, scope Scope, doc document, sink Sink) turn.Result {
	a, err := decode[notebookArguments](doc)
	if err != nil {
		return result(err)
	}
	t, err := e.targetOf(scope, a.Path, maxNotebook)
	if err != nil {
		return result(err)
	}
	return e.write(ctx, t, sink, func(was *original) (proposal, error) { return a.plan(t, was) })
}

// cellChange is what is done to a notebook.
type cellChange struct {
	splices []splice
	says    string
	notes   []string
	cells   int // that there are then
	// made is the index of a new cell, of which the handle is said, or -1.
	made int
}

func (a notebookArguments) plan(t target, was *original) (proposal, error) {
	name := showName(t.asked)
	if !was.exists {
		return proposal{}, turn.Refuse(turn.NotFound, "%s does not exist; Write creates files", name)
	}
	if err := expect(a.Expected, t, was); err != nil {
		return proposal{}, err
	}
	if err := mustBeText(t.asked, was.content); err != nil {
		return proposal{}, err
	}
	mark := bomLength(was.content)
	n, err := parseNotebook(name, was.content[mark:])
	if err != nil {
		return proposal{}, err
	}
	var c cellChange
	switch a.Mode {
	case "insert":
		c, err = a.insert(name, n)
	case "delete":
		c, err = a.remove(name, n)
	default:
		c, err = a.replace(name, n)
	}
	if err != nil {
		return proposal{}, err
	}
	slices.SortStableFunc(c.splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	edited := apply(was.content, mark, c.splices)
	if edited.size() > maxNotebook {
		return proposal{}, turn.Refuse(turn.TooLarge, "%s would have %s; notebooks up to %s can be changed", name, count(edited.size(), "byte"), count(maxNotebook>>20, "MiB"))
	}
	// What was spliced together is read once more before it goes to the disk.
	after, err := parseNotebook(name, edited.joined()[mark:])
	if err != nil || len(after.cells) != c.cells {
		return proposal{}, turn.RefuseFor(turn.InternalError, err, "the change of %s would not have been a valid notebook, so nothing was written", name)
	}
	if c.made >= 0 {
		c.says = fmt.Sprintf("Inserted a %s cell as cell %d of %d, handle %s.", a.Type, c.made+1, c.cells, after.cells[c.made].handle) + c.says
	}
	return proposal{content: edited, notes: c.notes, say: func(w turn.WriteIntent) string {
		return describe(w, "Edited") + "\n" + c.says + notesText(c.notes)
	}}, nil
}

// replace changes the source of a cell, and its type if that is asked for.
func (a notebookArguments) replace(name string, n *notebookText) (cellChange, error) {
	i, err := n.find(name, a.Cell)
	if err != nil {
		return cellChange{}, err
	}
	cell := n.cells[i]
	old, ok := n.source(cell)
	if !ok {
		return cellChange{}, turn.Refuse(turn.NotANotebook, "%s is not changed: it is no valid notebook: cell %d has no source that is text", name, i+1)
	}
	kind := cmp.Or(a.Type, cell.kind)
	text := *a.NewSource
	c := cellChange{made: -1}
	if end := prevailingEnd([]byte(old)); end == crlf && withEnd(text, end) != text {
		text = withEnd(text, end)
		c.notes = append(c.notes, "the line ends of the cell were kept: CRLF")
	}
	if text == old && kind == cell.kind {
		return cellChange{}, turn.Refuse(turn.EditNoChange, "the cell %s of %s already has exactly this source, so there is nothing to change", showName(cell.handle), name)
	}
	style := n.styleOf(cell.jsonValue)
	source, _ := cell.member("source")
	if text != old {
		c.splices = append(c.splices, splice{source.from, source.to, n.rewrite(source, text, style)})
	}
	n.clearOutputs(cell, kind, &c)
	if kind != cell.kind {
		n.retype(cell, kind, style, &c)
	}
	c.cells = len(n.cells)
	c.says = fmt.Sprintf("Replaced the source of cell %d of %d (%s, handle %s).", i+1, len(n.cells), kind, showName(cell.handle))
	return c, nil
}

// clearOutputs removes what the old source of a code cell had printed.
func (n *notebookText) clearOutputs(cell cellText, kind string, c *cellChange) {
	if cell.kind != "code" {
		return
	}
	stale := false
	if v, ok := cell.member("outputs"); ok && !(v.kind == '[' && len(v.items) == 0) {
		stale = true
		if kind == "code" {
			c.splices = append(c.splices, splice{v.from, v.to, "[]"})
		}
	}
	if v, ok := cell.member("execution_count"); ok && v.kind != 'n' {
		stale = true
		if kind == "code" {
			c.splices = append(c.splices, splice{v.from, v.to, "null"})
		}
	}
	switch {
	case !stale:
	case kind == "code":
		c.notes = append(c.notes, "the outputs and the execution count of the cell belonged to the old source and were cleared")
	default:
		c.notes = append(c.notes, "the outputs and the execution count of the cell were removed, because only a code cell has any")
	}
}

// retype changes the type of a cell: members that the new type may not have go,
// those that it must have come.
func (n *notebookText) retype(cell cellText, kind string, style cellStyle, c *cellChange) {
	old, _ := cell.member("cell_type")
	c.splices = append(c.splices, splice{old.from, old.to, quoteJSON(kind, true)})
	c.notes = append(c.notes, fmt.Sprintf("the type of the cell was changed from %s to %s", cell.kind, kind))
	gone := map[string]bool{}
	switch kind {
	case "code":
		gone["attachments"] = true
		for _, m := range [][2]string{{"execution_count", "null"}, {"outputs", "[]"}} {
			if _, ok := cell.member(m[0]); ok {
				continue
			}
			text := style.gap + quoteJSON(m[0], true) + style.colon + m[1]
			c.splices = append(c.splices, splice{old.to, old.to, text})
		}
	default:
		gone["outputs"], gone["execution_count"] = true, true
	}
	if _, ok := cell.member("attachments"); ok && kind == "code" {
		c.notes = append(c.notes, "the attachments of the cell were removed, because a code cell has none")
	}
	m := cell.members
	for a := 0; a < len(m); a++ {
		if !gone[m[a].name] {
			continue
		}
		b := a + 1
		for b < len(m) && gone[m[b].name] {
			b++
		}
		if a == 0 { // cell_type stays, so that something follows
			c.splices = append(c.splices, splice{m[0].from, m[b].from, ""})
		} else {
			c.splices = append(c.splices, splice{m[a-1].value.to, m[b-1].value.to, ""})
		}
		a = b
	}
}

// remove deletes a cell.
func (a notebookArguments) remove(name string, n *notebookText) (cellChange, error) {
	i, err := n.find(name, a.Cell)
	if err != nil {
		return cellChange{}, err
	}
	cell, last := n.cells[i], len(n.cells)-1
	var s splice
	switch {
	case last == 0:
		s = splice{from: n.list.from + 1, to: n.list.to - 1}
	case i < last:
		s = splice{from: cell.from, to: n.cells[i+1].from}
	default:
		s = splice{from: n.cells[i-1].to, to: cell.to}
	}
	c := cellChange{splices: []splice{s}, cells: last, made: -1}
	c.says = fmt.Sprintf("Deleted cell %d of %d (%s, handle %s); its JSON was %s, SHA-256 %s.", i+1, len(n.cells), showName(cell.kind), showName(cell.handle),
		count(int64(cell.to-cell.from), "byte"), hashOf(n.raw[cell.from:cell.to]))
	c.says += n.shifted(i + 1)
	return c, nil
}

// shifted says that handles which are positions are others now, if a cell from
// index on has one.
func (n *notebookText) shifted(from int) string {
	for _, c := range n.cells[min(from, len(n.cells)):] {
		if c.id == nil || c.handle != *c.id {
			return " Handles that are positions (cell-N) have shifted for the cells after it."
		}
	}
	return ""
}

// insert adds a cell.
func (a notebookArguments) insert(name string, n *notebookText) (cellChange, error) {
	at := 0
	switch a.Position {
	case "end":
		at = len(n.cells)
	case "before", "after":
		i, err := n.find(name, a.Cell)
		if err != nil {
			return cellChange{}, err
		}
		if at = i; a.Position == "after" {
			at++
		}
	}
	c := cellChange{cells: len(n.cells) + 1, made: at}
	id := ""
	if n.minor >= 5 {
		id = n.freshID()
	}
	s, lead, gap, tail := n.insertStyle(at)
	text := n.cell(s, a.Type, id, *a.NewSource)
	switch {
	case len(n.cells) == 0:
		c.splices = []splice{{n.list.from + 1, n.list.to - 1, lead + text + tail}}
	case at == len(n.cells):
		c.splices = []splice{{n.cells[at-1].to, n.cells[at-1].to, gap + text}}
	default:
		c.splices = []splice{{n.cells[at].from, n.cells[at].from, text + gap}}
	}
	c.says = n.shifted(at)
	return c, nil
}

// insertStyle is the style of a new cell, and what stands before, between and
// after cells: all like the cell that it is put beside.
func (n *notebookText) insertStyle(at int) (s cellStyle, lead, gap, tail string) {
	k := len(n.cells)
	if k > 0 {
		beside := n.cells[min(at, k-1)]
		s = n.styleOf(beside.jsonValue)
		switch first := n.between(n.list.from+1, n.cells[0].from); {
		case first == "" && !s.pretty:
			gap = s.gap
		default:
			gap = "," + first
		}
		if k > 1 {
			i := min(max(at, 1), k-1)
			gap = n.between(n.cells[i-1].to, n.cells[i].from)
		}
		return s, "", gap, ""
	}
	// Without cells, the outermost object is the model.
	top, _ := scanJSON(n.raw) // it was scanned before
	outer := n.styleOf(top)
	s = cellStyle{gap: ", ", colon: outer.colon, unit: outer.unit, pretty: outer.pretty}
	if !outer.pretty {
		if len(top.members) > 1 {
			s.gap = outer.gap
		}
		return s, "", s.gap, ""
	}
	deeper := func(levels int) string { return outer.lead + strings.Repeat(outer.unit, levels) }
	s.lead, s.tail = deeper(2), deeper(1)
	s.gap = "," + s.lead
	return s, deeper(1), "," + deeper(1), outer.lead
}

// cell writes a new cell, its keys in the order in which Jupyter writes them.
func (n *notebookText) cell(s cellStyle, kind, id, source string) string {
	members := [][2]string{{"cell_type", quoteJSON(kind, true)}}
	if kind == "code" {
		members = append(members, [2]string{"execution_count", "null"})
	}
	if id != "" {
		members = append(members, [2]string{"id", quoteJSON(id, true)})
	}
	members = append(members, [2]string{"metadata", "{}"})
	if kind == "code" {
		members = append(members, [2]string{"outputs", "[]"})
	}
	members = append(members, [2]string{"source", s.list(source, n.ascii)})
	return s.object(members)
}
