package executor

import (
	"bytes"
	"context"
	"strings"
	"time"

	"deckhand/gateway/turn"
)

type editArguments struct {
	FilePath   string `json:"file_path"`
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
	Expected   string `json:"expected_sha256"`
}

func (a editArguments) check() error { return checkFilePath("file_path", a.FilePath) }

// edit replaces a literal text in a file.
func (e *Executor) edit(ctx context.Context, scope Scope, doc document, sink Sink) turn.Result {
	a, err := decode[editArguments](doc)
	if err != nil {
		return result(err)
	}
	if a.Old == a.New {
		return turn.Failure(turn.EditNoChange, "old_string and new_string are the same, so there is nothing to change.")
	}
	t, err := e.targetOf(scope, a.FilePath, maxWrite)
	if err != nil {
		return result(err)
	}
	return e.write(ctx, t, sink, func(was *original) (proposal, error) { return a.plan(t, was, e.missTime) })
}

func (a editArguments) plan(t target, was *original, missTime time.Duration) (proposal, error) {
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
	text := flatten(was.content[mark:])
	splices, err := a.splices(name, text, missTime)
	if err != nil {
		return proposal{}, err
	}
	var notes []string
	if n := endsNote(a.New, splices); n != "" {
		notes = append(notes, n)
	}
	if n := RunsByItself(t.real); n != "" {
		notes = append(notes, n)
	}
	edited := apply(was.content, mark, splices)
	if edited.size() > maxWrite {
		return proposal{}, turn.Refuse(turn.TooLarge, "%s would have %s; files up to %s can be changed", name, count(edited.size(), "byte"), count(maxWrite>>20, "MiB"))
	}
	return proposal{content: edited, notes: notes, say: func(w turn.WriteIntent) string {
		return describe(w, "Edited") + notesText(notes) + "\n" + showChange(edited, mark, splices)
	}}, nil
}

// bomLength is the length of the byte order mark of a text.
func bomLength(b []byte) int {
	if bytes.HasPrefix(b, []byte(bom)) {
		return len(bom)
	}
	return 0
}

// endsNote says that new lines do not end as they were given, "" if they do.
func endsNote(given string, splices []splice) string {
	wide, plain := false, false
	for _, s := range splices {
		n := strings.Count(s.text, "\r\n")
		wide = wide || n > 0
		plain = plain || n < strings.Count(s.text, "\n")
	}
	switch {
	case wide && !strings.Contains(given, "\r\n"):
		return "the new lines end in CRLF, like those that they replace"
	case plain && strings.Contains(given, "\r\n"):
		return "the new lines end in LF, like those that they replace"
	}
	return ""
}

// splices finds what to replace by what, or says why not.
func (a editArguments) splices(name string, t *flatText, missTime time.Duration) ([]splice, error) {
	old, repl := t.like(a.Old), t.like(a.New)
	if bytes.IndexByte(t.flat, '\n') < 0 {
		repl = a.New // no line end to keep: as it was given
	}
	if old == repl {
		return nil, turn.Refuse(turn.EditNoChange, "old_string and new_string differ only in their line ends. Edit keeps the line ends of the file, so there is nothing to change")
	}
	needle := []byte(old)
	first := bytes.Index(t.flat, needle)
	if first < 0 {
		return nil, turn.Refuse(turn.EditNotFound, "%s does not hold old_string, and nothing was changed. %s", name, nearMiss(t, a.Old, newBudget(missTime)))
	}
	if !a.ReplaceAll {
		// Overlapping ones count: which of them is meant is not clear either.
		if i := bytes.Index(t.flat[first+1:], needle); i >= 0 {
			return nil, severalMatches(name, t, needle)
		}
		return []splice{t.splice(first, old, repl)}, nil
	}
	var all []splice
	for at := first; at >= 0; {
		all = append(all, t.splice(at, old, repl))
		next := at + len(needle)
		if at = bytes.Index(t.flat[next:], needle); at >= 0 {
			at += next
		}
	}
	return all, nil
}

// nearMissTime is how long a search for what nearly matched may take.
const nearMissTime = 8 * time.Millisecond

// maxListed is how many matches are listed.
const maxListed = 10

func severalMatches(name string, t *flatText, needle []byte) error {
	var lines []string
	n, line, counted := 0, int64(1), 0
	for at := 0; ; {
		i := bytes.Index(t.flat[at:], needle)
		if i < 0 {
			break
		}
		at += i
		if n++; n <= maxListed {
			line += int64(bytes.Count(t.flat[counted:at], []byte{'\n'}))
			counted = at
			lines = append(lines, digits(line))
		}
		at++
	}
	list := strings.Join(lines, ", ")
	if n > maxListed {
		list += ", …"
	}
	return turn.Refuse(turn.EditNotUnique, "old_string stands in %s %s times, beginning in the lines %s. Nothing was changed; give more of the text around the one that is meant, or set replace_all", name, digits(int64(n)), list)
}
