package demo

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"deckhand/app/demo/chatgpt"
)

// detective solves the sample's puzzle: it follows a note in the code to a
// constant, and the constant to where it was measured. Where the note is, which
// constant and which numbers it all takes from the results.
type detective struct {
	where, root string // directory argument ("" = the session's own); the project
	step        func(*chatgpt.Turn) (move, error)
	note        hit
	name, value string // the constant and what the code says of it
	place       hit    // where the code says so
}

// noteMark is what programmers write where they mean to come back.
const noteMark = "TODO"

func (d *detective) question() string {
	return "The barrel overflowed on 14 June, but the report of that day says there was room for 24 litres. " +
		"I think somebody left a note in the code. Please find out what is wrong; change nothing."
}

func (d *detective) next(turn *chatgpt.Turn) (move, error) {
	if turn.Prompt != nil && d.step == nil {
		d.step = d.list
	}
	return d.step(turn)
}

func (d *detective) list(turn *chatgpt.Turn) (move, error) {
	if err := needs(turn, "FindFiles", "SearchText", "Read"); err != nil {
		return move{}, err
	}
	d.step = d.search
	return call("First, what is there?", "FindFiles", in(d.where, map[string]any{"kind": "file"})), nil
}

func (d *detective) search(turn *chatgpt.Turn) (move, error) {
	list, err := result(turn, "FindFiles")
	if err != nil {
		return move{}, err
	}
	files, err := filesIn(list.Text)
	if err != nil || len(files) == 0 {
		return move{}, cmp.Or(err, errNothing)
	}
	d.step = d.open
	thought := fmt.Sprintf("%s. A note would be marked %s.", count(len(files), "file"), noteMark)
	return call(thought, "SearchText", in(d.where, map[string]any{"text": noteMark})), nil
}

func (d *detective) open(turn *chatgpt.Turn) (move, error) {
	found, err := result(turn, "SearchText")
	if err != nil {
		return move{}, err
	}
	hits, err := hitsIn(found.Text)
	if err != nil || len(hits) == 0 {
		return move{}, cmp.Or(err, errNothing)
	}
	d.note, d.step = hits[0], d.follow
	thought := fmt.Sprintf("Here it is, in line %d of %s.", d.note.line, path.Base(d.note.path))
	return call(thought, "Read", map[string]any{"file_path": d.note.path}), nil
}

// assignment is a constant being given a number.
var assignment = regexp.MustCompile(`([A-Z][A-Z0-9_]{3,})\s*=\s*([0-9.]+)`)

func (d *detective) follow(turn *chatgpt.Turn) (move, error) {
	source, err := result(turn, "Read")
	if err != nil {
		return move{}, err
	}
	after := source.Text
	if i := strings.Index(after, noteMark); i >= 0 {
		after = after[i:]
	}
	match := assignment.FindStringSubmatch(after)
	if match == nil {
		return move{}, errNothing
	}
	d.name, d.value, d.step = match[1], match[2], d.answer
	thought := fmt.Sprintf("The note is about %s, which is %s here. Who else says what it is?", d.name, d.value)
	return call(thought, "SearchText", in(d.where, map[string]any{"text": d.name})), nil
}

// number is a number that stands by itself.
var number = regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?\b`)

func (d *detective) answer(turn *chatgpt.Turn) (move, error) {
	found, err := result(turn, "SearchText")
	if err != nil {
		return move{}, err
	}
	d.step = nil
	hits, err := hitsIn(found.Text)
	if err != nil {
		return move{}, err
	}
	for _, h := range hits {
		if m := assignment.FindStringSubmatch(h.text); m != nil && m[1] == d.name {
			d.place = h
		}
	}
	for _, h := range hits {
		measured := number.FindString(strings.ReplaceAll(h.text, d.name, ""))
		if h.path == d.place.path || measured == "" || measured == d.value {
			continue
		}
		return move{reply: chatgpt.Reply{Text: d.verdict(h, measured)}}, nil
	}
	return move{}, errNothing
}

// verdict is the answer to the user.
func (d *detective) verdict(h hit, measured string) string {
	text := fmt.Sprintf("It is %s. Line %d of %s sets it to %s, but line %d of %s has it measured as %s.",
		d.name, d.place.line, short(d.root, d.place.path), d.value, h.line, short(d.root, h.path), measured)
	is, err1 := strconv.ParseFloat(d.value, 64)
	should, err2 := strconv.ParseFloat(measured, 64)
	if err1 != nil || err2 != nil || is == 0 {
		return text
	}
	if ratio := should / is; ratio > 9 && ratio < 11 {
		text += " That looks like centimetres where millimetres belong."
	}
	return text + fmt.Sprintf(" So every level is off by %g, and a full barrel seems to have room left. I changed nothing.", should-is)
}
