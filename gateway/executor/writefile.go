package executor

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

type writeArguments struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
	Expected string `json:"expected_sha256"`
}

func (a writeArguments) check() error { return checkFilePath("file_path", a.FilePath) }

// checkFilePath refuses what can only name a folder.
func checkFilePath(argument, path string) error {
	if strings.HasSuffix(path, "/") || path == "." || path == ".." || strings.HasSuffix(path, "/.") || strings.HasSuffix(path, "/..") {
		return badArgument(argument, "names a folder; give the path of a file")
	}
	return checkPath(argument, path)
}

// writeFile replaces or creates a whole file.
func (e *Executor) writeFile(ctx context.Context, scope Scope, doc document, sink Sink) turn.Result {
	a, err := decode[writeArguments](doc)
	if err != nil {
		return result(err)
	}
	t, err := e.targetOf(scope, a.FilePath, maxWrite)
	if err != nil {
		return result(err)
	}
	return e.write(ctx, t, sink, func(was *original) (proposal, error) { return a.plan(t, was) })
}

func (a writeArguments) plan(t target, was *original) (proposal, error) {
	if err := expect(a.Expected, t, was); err != nil {
		return proposal{}, err
	}
	whole, kept := []byte(a.Content), []string(nil)
	if was.exists {
		if err := mustBeText(t.asked, was.content); err != nil {
			return proposal{}, err
		}
		whole, kept = likeBefore(a.Content, was.content)
		if bytes.Equal(whole, was.content) {
			return proposal{nothing: fmt.Sprintf("%s already has exactly this content (SHA-256 %s); nothing was written.", showName(t.asked), was.sha256())}, nil
		}
	}
	notes := kept
	if n := RunsByItself(t.real); n != "" {
		notes = append(notes, n)
	}
	return proposal{content: newContent{middle: whole}, notes: notes, say: func(w turn.WriteIntent) string {
		what := "Replaced"
		if !was.exists {
			what = "Created"
		}
		s := describe(w, what) + fmt.Sprintf(" It has %s.", count(countLinesOf(whole), "line"))
		if n := len(w.MadeDirs); n > 0 {
			s += fmt.Sprintf(" %s made: %s.", count(int64(n), "folder"), showName(w.MadeDirs[n-1]))
		}
		return s + notesText(notes)
	}}, nil
}

// expect compares a file with what the caller read before, if that was said.
func expect(sha256 string, t target, was *original) error {
	switch {
	case sha256 == "" || sha256 == was.sha256():
		return nil
	case !was.exists:
		return turn.Refuse(turn.FileChanged, "%s does not exist, although expected_sha256 was given", showName(t.asked))
	}
	return turn.Refuse(turn.FileChanged, "%s is not what expected_sha256 says: it has %s and the SHA-256 %s now. Read it again", showName(t.asked), count(int64(len(was.content)), "byte"), was.sha256())
}

// mustBeText refuses to change what is not UTF-8 text: to write it back would
// damage it or hide that it is something else.
func mustBeText(asked string, content []byte) error {
	nul := bytes.IndexByte(content, 0)
	if nul < 0 && utf8.Valid(content) {
		return nil
	}
	if nul >= 0 {
		hint := ""
		if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
			hint = "; it looks like UTF-16 text"
		}
		return turn.Refuse(turn.NotUTF8, "%s is binary and is not changed: a NUL byte stands at byte offset %d%s", showName(asked), nul, hint)
	}
	c := utf8Check{lines: true}
	c.add(content)
	c.end()
	return turn.Refuse(turn.NotUTF8, "%s is not UTF-8 text and is not changed, because that would damage it: the first bad byte is 0x%02x at byte offset %d (line %d)", showName(asked), c.bad.value, c.bad.at, c.bad.line)
}

const bom = "\uFEFF"

// likeBefore gives the new content of an existing file its byte order mark and
// its prevailing line end, and says what was changed for that.
func likeBefore(text string, before []byte) (content []byte, notes []string) {
	hasBOM := bytes.HasPrefix(before, []byte(bom))
	if hasBOM && !strings.HasPrefix(text, bom) {
		text = bom + text
		notes = append(notes, "the byte order mark of the file was kept")
	}
	if end := prevailingEnd(before); end != "" {
		if converted := withEnd(text, end); converted != text {
			text = converted
			notes = append(notes, fmt.Sprintf("the line ends of the file were kept: %s", end.name()))
		}
	}
	return []byte(text), notes
}

// countLinesOf counts lines as Read does.
func countLinesOf(b []byte) int64 {
	n := int64(bytes.Count(b, []byte{'\n'}))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
