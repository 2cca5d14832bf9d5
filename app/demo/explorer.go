package demo

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"deckhand/app/demo/chatgpt"
)

// explorer looks around in a directory that it knows nothing about: it lists
// files, searches for the word that their names use most, and reads where that
// word occurs most.
type explorer struct {
	where, root, name string
	step              func(*chatgpt.Turn) (move, error)
	files             int
	words             []string // candidates, best first
	word              string
	hits              []hit
	top               hit // first hit of the file with the most
	in                int // hits in that file
	// more and found are atLeast if the list, or the search, was cut.
	more, found string
}

const (
	// tries is how many words are searched before the script gives up.
	tries = 3
	// around is how many lines are read before and after a hit.
	around = 6
	// atLeast stands before a number that is not all.
	atLeast = "at least "
	// shortest is the fewest letters of a word worth searching for.
	shortest = 4
)

func (e *explorer) question() string {
	return fmt.Sprintf("What is this directory, %s, about? Look at its files, and tell me what turns up most.", e.name)
}

func (e *explorer) next(turn *chatgpt.Turn) (move, error) {
	if turn.Prompt != nil && e.step == nil {
		e.step = e.list
	}
	return e.step(turn)
}

func (e *explorer) list(turn *chatgpt.Turn) (move, error) {
	if err := needs(turn, "FindFiles", "SearchText", "Read"); err != nil {
		return move{}, err
	}
	e.step = e.choose
	return call("First, what is there?", "FindFiles", in(e.where, map[string]any{"kind": "file"})), nil
}

func (e *explorer) choose(turn *chatgpt.Turn) (move, error) {
	list, err := result(turn, "FindFiles")
	if err != nil {
		return move{}, err
	}
	files, err := filesIn(list.Text)
	if err != nil || len(files) == 0 {
		return move{}, cmp.Or(err, errWordless)
	}
	e.files = len(files)
	if list.Truncated {
		e.more = atLeast
	}
	e.words = frequent(e.root, files)
	return e.search(fmt.Sprintf("%s listed.", count(e.files, "file")))
}

// search asks for the next candidate.
func (e *explorer) search(thought string) (move, error) {
	if len(e.words) == 0 {
		return move{}, errWordless
	}
	e.word, e.words, e.step = e.words[0], e.words[1:], e.read
	return call(fmt.Sprintf("%s Their names often say “%s”. Where is it used?", thought, e.word),
		"SearchText", in(e.where, map[string]any{"text": e.word})), nil
}

func (e *explorer) read(turn *chatgpt.Turn) (move, error) {
	found, err := result(turn, "SearchText")
	if err != nil {
		return move{}, err
	}
	if e.hits, err = hitsIn(found.Text); err != nil {
		return move{}, err
	}
	if len(e.hits) == 0 {
		return e.search(fmt.Sprintf("No file holds “%s”.", e.word))
	}
	e.found = ""
	if found.Truncated {
		e.found = atLeast
	}
	byFile := map[string]int{}
	for _, h := range e.hits {
		byFile[h.path]++
	}
	// The first of equals, in the order of the search.
	for _, h := range e.hits {
		if byFile[h.path] > e.in {
			e.top, e.in = h, byFile[h.path]
		}
	}
	e.step = e.tell
	thought := fmt.Sprintf("%s%s in %s; most of them in %s.", e.found, count(len(e.hits), "hit"),
		count(len(byFile), "file"), short(e.root, e.top.path))
	return call(thought, "Read", map[string]any{
		"file_path": e.top.path,
		"offset":    max(1, e.top.line-around), "limit": 2*around + 1,
	}), nil
}

func (e *explorer) tell(turn *chatgpt.Turn) (move, error) {
	text, err := result(turn, "Read")
	if err != nil {
		return move{}, err
	}
	e.step = nil
	if !strings.Contains(text.Text, e.word) {
		return move{}, fmt.Errorf("%s does not hold %q around line %d, although the search said so",
			e.top.path, e.word, e.top.line)
	}
	return move{reply: chatgpt.Reply{Text: fmt.Sprintf(
		"%s holds %s%s. The word their names use most is “%s”; the search found it %s%s, most often in %s, "+
			"where line %d reads: %s",
		e.name, e.more, count(e.files, "file"), e.word, e.found, times(len(e.hits)), short(e.root, e.top.path),
		e.top.line, strings.TrimSpace(e.top.text))}}, nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%s times", grouped(int64(n)))
}

// frequent returns the words of the files' names, without their endings, most
// frequent first.
func frequent(root string, files []string) []string {
	seen := map[string]int{}
	for _, file := range files {
		name := short(root, file)
		name = strings.TrimSuffix(name, path.Ext(name))
		for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(word) >= shortest {
				seen[word]++
			}
		}
	}
	words := slices.Collect(maps.Keys(seen))
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a, b))
	})
	return words[:min(len(words), tries)]
}

// errWordless ends a script that found none of its words.
var errWordless = errors.New("no file holds one of the words that the files' names say most: " + wanted)
