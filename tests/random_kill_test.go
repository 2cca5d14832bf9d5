package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway"
	"deckhand/gateway/crash"
	"deckhand/gateway/turn"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// Variables that make the test longer, or the same again.
const (
	killsVariable = "DECKHAND_TEST_KILLS"
	seedVariable  = "DECKHAND_TEST_SEED"
)

// usualKills is how many kills make test takes the time for.
const usualKills = 12

// roundsASession is after how many replies a session is ended and a new one made.
const roundsASession = 25

// TestWritesSurviveKillsAtRandom has ChatGPT write, edit and take back at random
// in a real directory while the gateway is killed again and again: by itself at
// a named point, or from outside after a random time. A model of the directory
// says after each reply what has to be there, to the byte: an edit that was lost,
// or happened twice, or by half, shows, and so does a file that was left beside.
func TestWritesSurviveKillsAtRandom(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, killsVariable, usualKills), number(t, seedVariable, int(time.Now().UnixNano()&0xffffff))
	t.Logf("%d kills, %s=%d", kills, seedVariable, seed)
	w := &killed{t: t, random: rand.New(rand.NewPCG(uint64(seed), 1)),
		g:   rig.Start(t, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify")),
		dir: t.TempDir(), files: map[string]string{}}
	for _, name := range []string{"a.txt", "b.txt"} {
		w.put(name, name+" v0\r\nlast")
	}
	w.put("n.ipynb", emptyNotebook)
	w.newSession()
	for round := 1; w.kills < kills; round++ {
		w.write()
		if w.random.IntN(3) == 0 {
			w.undo()
		}
		if round%roundsASession == 0 {
			w.settle(func() error { _, err := w.s.Stop(t.Context(), ""); return err })
			w.newSession()
			t.Logf("%d kills, %d replies", w.kills, round)
		}
	}
	w.settle(func() error { _, err := w.s.Stop(t.Context(), ""); return err })
	t.Logf("killed %d times: %v", w.kills, w.where)
}

func number(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// killed is a gateway that is killed, and what its files must be.
type killed struct {
	t      *testing.T
	random *rand.Rand
	g      *rig.Gateway
	dir    string
	files  map[string]string // path below dir to content
	cells  []string          // of n.ipynb
	count  int               // numbers everything that is written
	s      *fakechatgpt.Session
	last   []step // of the last reply, that were not taken back

	kills int
	where map[string]int // how often it died, by where
	armed string         // where the gateway that runs will die, or ""
}

// step is one call and the state of its file before and after.
type step struct {
	call          chatgpt.ToolCall
	path          string
	before, after string
	existed       bool
	cells         []string // after, for the notebook
	action        turn.ActionID
}

func (w *killed) put(name, text string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o640))
	w.files[name] = text
}

// settle makes a call again and again until it succeeds, and starts the gateway
// anew whenever it died. The call has to be one that may be repeated.
func (w *killed) settle(call func() error) {
	w.t.Helper()
	for try := 0; ; try++ {
		w.revive(try)
		err := call()
		if err == nil {
			return
		}
		refused, ok := errors.AsType[*chatgpt.ToolError](err)
		// It may take a moment to be seen dead.
		if try > 20 || ok && refused.Code != "shutting_down" {
			w.t.Fatalf("it does not come through: %v", err)
		}
		rig.Await(w.t, "the gateway to die, as the call failed: "+err.Error(), func() bool { return !w.g.Running() })
	}
}

// revive starts the gateway if it has died, and checks what it left.
func (w *killed) revive(try int) {
	w.t.Helper()
	for !w.g.Running() {
		w.kills++
		if w.where == nil {
			w.where = map[string]int{}
		}
		w.where[w.armed]++
		w.checkLedger()
		w.armed = ""
		if try < 3 {
			w.armed = w.arm()
		}
		if !w.g.AgainDying(w.armed) {
			continue
		}
		if w.s != nil {
			w.s = w.g.Chat().Join(w.s.ID, w.s.Lease, w.s.Token)
		}
	}
}

// arm chooses where the next gateway dies by itself, mostly.
func (w *killed) arm() string {
	if w.random.IntN(4) == 0 {
		return ""
	}
	points := crash.Points()
	return fmt.Sprintf("%s:%d", points[w.random.IntN(len(points))], 1+w.random.IntN(2))
}

// checkLedger verifies the invariants on what a kill left.
func (w *killed) checkLedger() {
	w.t.Helper()
	reader, err := gateway.OpenReader(w.g.State)
	must(w.t, err)
	broken, err := reader.CheckLedger(w.t.Context())
	must(w.t, err)
	must(w.t, reader.Close())
	if len(broken) > 0 {
		w.t.Fatalf("after a death at %q the ledger is broken: %v", w.armed, broken)
	}
}

// maybeKill kills the gateway from outside after a random time, now and then.
// The function that it returns waits for that.
func (w *killed) maybeKill() func() {
	if w.random.IntN(2) == 0 {
		return func() {}
	}
	after := time.Duration(w.random.IntN(250)) * time.Millisecond
	done := make(chan struct{})
	g := w.g.Gateway
	go func() {
		defer close(done)
		time.Sleep(after)
		if err := g.Kill(); err != nil {
			w.t.Error(err)
		}
	}()
	return func() { <-done }
}

// newSession starts a session, which a kill may hit too.
func (w *killed) newSession() {
	w.t.Helper()
	w.s = nil
	key := chatgpt.Key()
	wait := w.maybeKill()
	var s *chatgpt.Session
	w.settle(func() (err error) {
		s, err = w.g.Chat().Client.Start(w.t.Context(), chatgpt.Start{
			Prompt: "Write.", WorkingDirectory: w.dir, Profile: "direct_write", IdempotencyKey: key})
		return err
	})
	wait()
	w.s = w.g.Chat().Join(s.ID, s.Lease, s.Token)
	w.settle(func() error { _, err := w.s.Await(w.t.Context()); return err })
}

// write has ChatGPT reply with a few writes to different files, and checks what
// came of them.
func (w *killed) write() {
	w.t.Helper()
	var steps []step
	var calls []chatgpt.ToolCall
	for _, choice := range w.random.Perm(4)[:1+w.random.IntN(3)] {
		st := w.step(choice)
		steps, calls = append(steps, st), append(calls, st.call)
	}
	w.settle(func() error { _, err := w.s.Await(w.t.Context()); return err })
	opened := w.s.Last.Turn.ID
	key := chatgpt.Key()
	var answer *chatgpt.Answer
	wait := w.maybeKill()
	w.settle(func() (err error) {
		answer, err = w.s.ReplyTo(w.t.Context(), opened, key, chatgpt.Reply{Calls: calls})
		return err
	})
	wait()
	w.settle(func() (err error) { answer, err = w.s.Await(w.t.Context()); return err })
	if answer.Turn == nil || len(answer.Turn.Results) != len(steps) {
		w.t.Fatalf("%d writes brought %s", len(steps), fakechatgpt.Describe(answer))
	}
	for i, r := range answer.Turn.Results {
		if r.Outcome != "ok" {
			w.t.Fatalf("%s of %s: %s %s\n%s", r.Name, steps[i].path, r.Outcome, r.Receipt.Code, r.Text)
		}
		w.files[steps[i].path], steps[i].action = steps[i].after, turn.ActionID(r.Action)
		if steps[i].cells != nil {
			w.cells = steps[i].cells
		}
	}
	w.last = steps
	w.check()
}

// step makes one write of a kind. None of them can be applied twice without
// being seen: an edit finds its text once, a cell would stand there twice.
func (w *killed) step(kind int) step {
	w.count++
	mark := fmt.Sprintf("v%d", w.count)
	switch kind {
	case 0, 1:
		name := []string{"a.txt", "b.txt"}[kind]
		before := w.files[name]
		old, _, _ := strings.Cut(strings.TrimPrefix(before, name+" "), "\r\n")
		return step{path: name, existed: true, before: before, after: strings.Replace(before, old, mark+old[:min(len(old), 20)], 1),
			call: fakechatgpt.Call("Edit", map[string]any{"file_path": name, "old_string": " " + old, "new_string": " " + mark + old[:min(len(old), 20)]})}
	case 2:
		path := fmt.Sprintf("made/%d/%d/file.txt", w.count%3, w.count)
		if w.random.IntN(2) == 0 {
			path = "made/over.txt"
		}
		text := strings.Repeat(mark+"\n", 1+w.random.IntN(3000))
		before, existed := w.files[path]
		return step{path: path, existed: existed, before: before, after: text,
			call: fakechatgpt.Call("Write", map[string]any{"file_path": path, "content": text})}
	}
	cells := append(append([]string{}, w.cells...), mark)
	args := map[string]any{"notebook_path": "n.ipynb", "edit_mode": "insert", "position": "end", "cell_type": "markdown", "new_source": mark}
	return step{path: "n.ipynb", existed: true, before: w.files["n.ipynb"], cells: cells, call: fakechatgpt.Call("NotebookEdit", args)}
}

// undo has the user take back one of the last writes, which a kill may hit: then
// it is asked for again, and is done once or was done.
func (w *killed) undo() {
	w.t.Helper()
	i := w.random.IntN(len(w.last))
	st := w.last[i]
	w.last = slices.Delete(w.last, i, i+1)
	wait := w.maybeKill()
	w.settle(func() error {
		report, err := w.g.Admin().UndoAction(w.t.Context(), st.action, false)
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Code == turn.NothingToUndo {
			return nil // the one before had done it
		}
		if err == nil && len(report.Undone) != 1 {
			w.t.Fatalf("the undo of %s: %+v", st.path, report)
		}
		return err
	})
	wait()
	if st.existed {
		w.files[st.path] = st.before
	} else {
		delete(w.files, st.path)
	}
	if st.cells != nil {
		w.cells = w.cells[:len(w.cells)-1]
	}
	w.check()
}

// check compares the directory with the model.
func (w *killed) check() {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		found[rel] = string(data)
		if info, err := d.Info(); err == nil && (rel == "a.txt" || rel == "b.txt") && info.Mode().Perm() != 0o640 {
			w.t.Errorf("%s has mode %v", rel, info.Mode())
		}
		return err
	})
	must(w.t, err)
	for name, want := range w.files {
		got, ok := found[name]
		delete(found, name)
		switch {
		case !ok:
			w.t.Fatalf("%s is gone", name)
		case name == "n.ipynb":
			if cells := cellsOf(w.t, got); strings.Join(cells, " ") != strings.Join(w.cells, " ") {
				w.t.Fatalf("the notebook has the cells %v, not %v", cells, w.cells)
			}
			w.files[name] = got
		case got != want:
			w.t.Fatalf("%s has %d bytes %.60q, not %d %.60q", name, len(got), got, len(want), want)
		}
	}
	for name := range found {
		w.t.Fatalf("%s was left", name)
	}
}

// emptyNotebook has no cells.
const emptyNotebook = `{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`

// cellsOf returns the sources of a notebook's cells.
func cellsOf(t *testing.T, text string) []string {
	t.Helper()
	var nb struct {
		Cells []struct {
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	must(t, json.Unmarshal([]byte(text), &nb))
	var cells []string
	for _, c := range nb.Cells {
		var lines []string
		var one string
		if json.Unmarshal(c.Source, &one) != nil {
			must(t, json.Unmarshal(c.Source, &lines))
			one = strings.Join(lines, "")
		}
		cells = append(cells, one)
	}
	return cells
}
