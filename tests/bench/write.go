package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deckhand/gateway/executor"
	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// size is how large the file of a row is, in bytes.
type size int

func (s size) String() string {
	if s < 1<<20 {
		return fmt.Sprintf("%d KB", s>>10)
	}
	return fmt.Sprintf("%d MB", s>>20)
}

const byHandWords = "the same bytes by hand: write, fsync, rename, fsync"

// writeRows are the executor alone: making a write's intent durable costs
// nothing here.
var writeRows = []row{
	writeRow("Edit", 1<<10, 60), writeRow("Edit", 1<<20, 30), writeRow("Edit", 50<<20, 9),
	writeRow("Write", 1<<10, 60), writeRow("Write", 700<<10, 30),
}

func writeRow(tool string, s size, pairs int) row {
	return row{what: fmt.Sprintf("%s of %s, durable", tool, s), against: byHandWords, goal: 1.5, pairs: pairs, open: func(dir string) (sides, error) {
		w, err := newWriter(dir, tool, s)
		if err != nil {
			return sides{}, err
		}
		return sides{theirs: w.byHand, ours: func() (time.Duration, error) {
			call := w.next()
			start := time.Now()
			err := w.run(call, executor.Sink{Action: turn.NewActionID(), Prepare: func(turn.WriteIntent, []byte) error { return nil }})
			return time.Since(start), err
		}}, nil
	}}
}

// writer changes one line in the middle of a file, again and again, with a tool
// in one folder and by hand in another.
type writer struct {
	e          *executor.Executor
	scope      executor.Scope
	tool       string
	head, tail string
	done       int // changes with the tool
	byHands    int
	hand       string // the folder
	last       turn.Result
}

func newWriter(dir, tool string, s size) (*writer, error) {
	half := strings.Repeat("a line of text, as long as many\n", int(s)/64)
	w := &writer{tool: tool, head: half, tail: half, hand: filepath.Join(dir, "hand")}
	work := filepath.Join(dir, "work")
	for _, folder := range []string{work, w.hand, filepath.Join(dir, "home"), filepath.Join(dir, "state")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	for _, folder := range []string{work, w.hand} {
		if err := os.WriteFile(filepath.Join(folder, "f"), []byte(w.text(0)), 0o644); err != nil {
			return nil, err
		}
	}
	paths, err := protected.New(protected.Config{Home: filepath.Join(dir, "home"), State: filepath.Join(dir, "state")})
	if err != nil {
		return nil, err
	}
	w.e, err = executor.New(executor.Config{Protected: paths})
	w.scope = executor.Scope{Profile: turn.DirectWrite, Subagent: turn.NoSubagent, WorkingDirectory: work, Root: work}
	return w, err
}

func line(n int) string             { return fmt.Sprintf("change %d\n", n) }
func (w *writer) text(n int) string { return w.head + line(n) + w.tail }
func encode(arguments map[string]any) json.RawMessage {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings always encode
	}
	return raw
}

// next is the call that makes the next change.
func (w *writer) next() turn.ToolCall {
	w.done++
	if w.tool == "Write" {
		return turn.ToolCall{Name: w.tool, Arguments: encode(map[string]any{"file_path": "f", "content": w.text(w.done)})}
	}
	return turn.ToolCall{Name: w.tool, Arguments: encode(map[string]any{"file_path": "f", "old_string": line(w.done - 1), "new_string": line(w.done)})}
}

// run runs a call.
func (w *writer) run(call turn.ToolCall, sink executor.Sink) error {
	w.last = w.e.Run(background, w.scope, call, sink)
	if w.last.Outcome != turn.OK {
		return fmt.Errorf("%s: %s", call.Name, w.last.Text)
	}
	return nil
}

// byHand is what durability costs whoever writes a file.
func (w *writer) byHand() (time.Duration, error) {
	w.byHands++
	path, content := filepath.Join(w.hand, "f"), []byte(w.text(w.byHands))
	start := time.Now()
	err := writeByHand(path, content)
	return time.Since(start), err
}

func writeByHand(path string, content []byte) (err error) {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
