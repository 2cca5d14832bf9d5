package session

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
)

// Bounds of the summary of what a run changed.
const (
	maxDiff      = 16 << 10
	maxDiffFile  = 1 << 20
	maxFilesTold = 200
)

// changesOf returns the summary of what a run changed, encoded, "" if it
// changed nothing. The content before is the ledger's; the content after is
// the file's, if it still is what the run left.
func (e *Engine) changesOf(r ledger.RunRecord) (string, error) {
	writes, err := e.ledger.Writes(r.Session)
	if err != nil {
		return "", err
	}
	writes = slices.DeleteFunc(writes, func(a ledger.ActionRecord) bool { return a.Run != r.ID || a.UndoneBy != "" })
	if len(writes) == 0 {
		return "", nil
	}
	_, s, err := e.ledger.Run(r.ID)
	if err != nil {
		return "", err
	}
	var c Changes
	var diff strings.Builder
	for _, f := range byFile(writes) {
		if len(c.Files) == maxFilesTold {
			c.Truncated = true
			break
		}
		change, text, err := e.changeOf(f, s.Workspace.Root)
		if err != nil {
			return "", err
		}
		c.Files = append(c.Files, change)
		diff.WriteString(text)
	}
	var cut bool
	c.Diff, cut = shorten(diff.String(), maxDiff, "of this diff")
	c.Truncated = c.Truncated || cut
	data, err := json.Marshal(c)
	return string(data), err
}

// fileWrites is what a run did to one file, oldest write first.
type fileWrites []ledger.ActionRecord

// byFile groups writes by file, in the order in which the files were first
// written.
func byFile(writes []ledger.ActionRecord) []fileWrites {
	var files []fileWrites
	index := map[string]int{}
	for _, a := range writes {
		i, ok := index[a.Intent.Path]
		if !ok {
			i = len(files)
			index[a.Intent.Path] = i
			files = append(files, nil)
		}
		files[i] = append(files[i], a)
	}
	return files
}

func (e *Engine) changeOf(f fileWrites, root string) (FileChange, string, error) {
	first, last := f[0], f[len(f)-1]
	name := first.Intent.Path
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	change := FileChange{Path: name}
	if note := executor.RunsByItself(first.Intent.Path); note != "" {
		change.Notes = append(change.Notes, note)
	}
	state, after, err := e.cfg.Executor.Look(first.Intent.Path)
	if err != nil || state.Exists != last.Intent.After.Exists || state.SHA256 != last.Intent.After.SHA256 {
		change.Notes = append(change.Notes, "somebody else has changed the file since")
		return change, "", nil
	}
	before, err := e.ledger.Text(first.Before)
	if err != nil {
		return change, "", err
	}
	if len(before) > maxDiffFile || len(after) > maxDiffFile || !utf8.ValidString(before) || !utf8.Valid(after) {
		change.Notes = append(change.Notes, "too large or not text, so its lines are not compared")
		return change, "", nil
	}
	from, to := "a/"+name, "b/"+name
	if !first.Intent.Before.Exists {
		from = "/dev/null"
	}
	text := udiff.Unified(from, to, before, string(after))
	change.Added, change.Removed = countLines(text)
	return change, text, nil
}

// countLines counts the added and removed lines of a unified diff.
func countLines(diff string) (added, removed int) {
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// decodeChanges reads what changesOf stored.
func decodeChanges(text string) (*Changes, error) {
	if text == "" {
		return nil, nil
	}
	var c Changes
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("decode changes: %w", err)
	}
	return &c, nil
}
