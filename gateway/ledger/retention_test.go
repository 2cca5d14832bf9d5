package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// writer starts a session that writes in a folder.
func (w *world) writer(key string) ledger.Effect {
	w.t.Helper()
	in := startInput(key, 1000)
	in.Profile = turn.DirectWrite
	in.Workspace = ledger.WorkspaceRecord{Kind: "direct", Root: "/src"}
	e, err := w.Start(in)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// authorise has the run of a session ask, and authorises one write.
func (w *world) authorise(e ledger.Effect) ledger.ActionRecord {
	w.t.Helper()
	var tail []turn.ToolUseID
	r, _, err := w.Run(e.Run.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Last != "" {
		for _, a := range w.actions(r.Last) {
			tail = append(tail, a.ToolUse)
		}
	}
	rec := w.offer(e.Run.ID, fmt.Sprint("d", r.Turns+1), tail...)
	w.reply(replyInput(e, rec.ID, "reply-"+string(rec.ID), "", "Write"))
	return w.actions(rec.ID)[0]
}

// prepare begins a write over a file that holds before.
func (w *world) prepare(a ledger.ActionRecord, before string) {
	w.t.Helper()
	w.begin(a)
	intent := turn.WriteIntent{Path: "/src/f", Before: turn.FileState{Exists: true, SHA256: hashOf(before), Bytes: int64(len(before))},
		After: turn.FileState{Exists: true, SHA256: "after", Bytes: 1}}
	if err := w.Prepare(a.ID, intent, []byte(before)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) finish(id turn.ActionID, text string) {
	w.t.Helper()
	if _, err := w.Finish(id, turn.Result{Outcome: turn.OK, Text: text, Write: &turn.WriteMark{Path: "/src/f"}}); err != nil {
		w.t.Fatal(err)
	}
}

// overwrite takes a session's run through one write over before.
func (w *world) overwrite(e ledger.Effect, before string) turn.ActionID {
	w.t.Helper()
	a := w.authorise(e)
	w.prepare(a, before)
	w.finish(a.ID, "written")
	return a.ID
}

// large is a content that has a file of its own.
func large(name string) string { return strings.Repeat(name+" ", 4<<10/(len(name)+1)) }

// bodies are the names of the body files.
func (w *world) bodies() []string {
	w.t.Helper()
	files, err := os.ReadDir(filepath.Join(w.dir, "bodies"))
	if err != nil {
		w.t.Fatal(err)
	}
	names := []string{}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func (w *world) forget(limits ledger.BeforeLimits, want int) {
	w.t.Helper()
	if n, err := w.Forget(limits); err != nil || n != want {
		w.t.Errorf("%d writes were forgotten, want %d: %v", n, want, err)
	}
}

func (w *world) forgotten(id turn.ActionID) bool {
	w.t.Helper()
	a, err := w.Action(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return !a.Forgotten.IsZero()
}

func (w *world) swept(want int) {
	w.t.Helper()
	if n, err := w.Sweep(); err != nil || n != want {
		w.t.Errorf("%d bodies were swept, want %d: %v", n, want, err)
	}
}

func TestWhatIsTooOldIsForgottenAndCannotBeUndone(t *testing.T) {
	w := newWorld(t)
	e := w.writer("k")
	old := w.overwrite(e, large("old"))
	small := w.overwrite(e, "small") // in its record
	w.fail(e.Run.ID)
	w.now = w.now.Add(time.Hour)
	e2 := w.writer("k2")
	young := w.overwrite(e2, large("young"))
	w.fail(e2.Run.ID)
	w.forget(ledger.BeforeLimits{For: time.Hour}, 0) // to the hour
	w.now = w.now.Add(time.Second)
	w.forget(ledger.BeforeLimits{For: time.Hour}, 2)
	w.forget(ledger.BeforeLimits{For: time.Hour}, 0) // the same again
	for _, id := range []turn.ActionID{old, small} {
		_, err := w.BeginUndo(id)
		wantCode(t, err, turn.UndoUnavailable)
	}
	if can, err := w.Undoable(e.Session.ID); err != nil || can {
		t.Errorf("undoable: %t, %v", can, err)
	}
	if can, err := w.Undoable(e2.Session.ID); err != nil || !can || w.forgotten(young) {
		t.Errorf("the younger one is not undoable: %v", err)
	}
	w.swept(1)
	events, err := w.Events(0, e.Session.ID, 1000)
	if err != nil {
		t.Fatal(err)
	}
	last := events[len(events)-1]
	if last.Kind != "undo.forgotten" || last.By != "gateway" || last.Files != 2 || last.Bytes != int64(len(large("old"))+len("small")) {
		t.Errorf("the event: %+v", last)
	}
}

func TestWhatIsTooMuchIsForgottenOldestFirst(t *testing.T) {
	w := newWorld(t)
	e := w.writer("k")
	var ids []turn.ActionID
	// The first content is needed by the last write too.
	for _, name := range []string{"shared", "b", "c", "d", "shared"} {
		ids = append(ids, w.overwrite(e, large(name)))
		w.now = w.now.Add(time.Minute)
	}
	w.fail(e.Run.ID)
	room := int64(len(large("shared")) + len(large("d")))
	if kept, err := w.Before(); err != nil || kept != room+int64(len(large("b"))+len(large("c"))) {
		t.Errorf("%d bytes are kept, %v", kept, err)
	}
	w.forget(ledger.BeforeLimits{Bytes: room}, 2)
	for i, want := range []bool{false, true, true, false, false} {
		if got := w.forgotten(ids[i]); got != want {
			t.Errorf("write %d: forgotten %t", i, got)
		}
	}
	w.swept(2)
	if kept, err := w.Before(); err != nil || kept != room {
		t.Errorf("%d bytes are kept, %v", kept, err)
	}
	w.forget(ledger.BeforeLimits{Bytes: 1}, 3)
	w.swept(2)
	w.forget(ledger.BeforeLimits{}, 0)
}

// TestWhatMayStillBeNeededIsNotForgotten has a run that goes on, a write without
// a receipt in it, and a body that a receipt holds as well.
func TestWhatMayStillBeNeededIsNotForgotten(t *testing.T) {
	w := newWorld(t)
	limits := ledger.BeforeLimits{For: time.Nanosecond, Bytes: 1}
	e := w.writer("k")
	done := w.overwrite(e, large("done"))
	a := w.authorise(e)
	w.prepare(a, large("underway"))
	w.now = w.now.Add(time.Hour)
	w.forget(limits, 0)
	w.finish(a.ID, large("done")) // a receipt with the text of that body
	w.now = w.now.Add(time.Hour)
	w.forget(limits, 0)
	w.fail(e.Run.ID)

	// An undo under way has kept a content of its own.
	undo, err := w.BeginUndo(a.ID)
	if err != nil {
		t.Fatal(err)
	}
	now := large("now")
	if err := w.Prepare(undo.ID, turn.WriteIntent{Path: "/src/f", Before: turn.FileState{Exists: true, SHA256: hashOf(now)}}, []byte(now)); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour)
	w.forget(limits, 2)
	if !w.forgotten(done) || !w.forgotten(a.ID) || w.forgotten(undo.ID) {
		t.Error("the wrong ones are forgotten")
	}
	w.swept(1) // "underway"; "done" is the receipt's
	w.finish(undo.ID, "undone")
	w.now = w.now.Add(time.Hour)
	w.forget(limits, 1)
	w.swept(1)
}

// TestACrashBetweenForgettingAndRemovingLeavesAnUnnamedBody reopens in between.
func TestACrashBetweenForgettingAndRemovingLeavesAnUnnamedBody(t *testing.T) {
	w := newWorld(t)
	e := w.writer("k")
	w.overwrite(e, large("old"))
	w.fail(e.Run.ID)
	w.now = w.now.Add(time.Hour)
	w.forget(ledger.BeforeLimits{For: time.Minute}, 1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.check()
	w.swept(1)
	w.check()
}

// TestASweepTakesNothingThatAVerbIsAboutToName sweeps bodies that nobody names,
// many times, while verbs store the same contents and name them.
func TestASweepTakesNothingThatAVerbIsAboutToName(t *testing.T) {
	w := newWorld(t)
	const contents = 150
	left := func() {
		for i := range contents {
			text := large(fmt.Sprint("content ", i))
			f, err := os.OpenFile(filepath.Join(w.dir, "bodies", hashOf(text)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if errors.Is(err, os.ErrExist) {
				continue
			}
			if err == nil {
				_, err = f.WriteString(text)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	left()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var work sync.WaitGroup
		for n := range 3 {
			work.Go(func() {
				for i := n; i < contents; i += 3 {
					in := startInput(fmt.Sprint("key ", i), 1000)
					in.Prompt = large(fmt.Sprint("content ", i))
					if _, err := w.Start(in); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
	}()
	swept := 0
	for going := true; going; {
		select {
		case <-ended:
			going = false
		default:
			left()
		}
		n, err := w.Sweep()
		if err != nil {
			t.Fatal(err)
		}
		swept += n
	}
	if swept == 0 {
		t.Error("nothing was ever swept")
	}
}

// TestAnEmptiedFileIsNoNewLedger opens what a crash of the disk, or a person,
// has left nothing of.
func TestAnEmptiedFileIsNoNewLedger(t *testing.T) {
	for _, c := range []struct {
		name              string
		file, bodies, key bool
		damaged           bool
	}{
		{"nothing at all", false, false, false, false},
		{"an empty file", true, false, false, false},
		{"an empty file beside bodies", true, true, false, true},
		{"an empty file beside the key", true, false, true, true},
		{"no file beside bodies", false, true, false, true},
		// A person who moves the ledger's folder away starts anew.
		{"no file beside the key", false, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			dir, key := filepath.Join(state, "ledger"), filepath.Join(state, "key")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.bodies {
				if err := os.Mkdir(filepath.Join(dir, "bodies"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for path, want := range map[string]bool{filepath.Join(dir, "ledger.db"): c.file, key: c.key} {
				if !want {
					continue
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, readOnly := range []bool{true, false} {
				l, err := ledger.Open(ledger.Options{Dir: dir, Key: key, ReadOnly: readOnly})
				if got := errors.Is(err, ledger.ErrDamaged); got != c.damaged {
					t.Errorf("read-only %t: %v", readOnly, err)
				}
				if !readOnly && !c.damaged && err != nil {
					t.Errorf("it was not made: %v", err)
				}
				if err == nil {
					if err := l.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
