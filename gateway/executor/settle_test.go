package executor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"deckhand/gateway/crash"
	"deckhand/gateway/turn"
)

// dies runs a write and reports the step at which a crash ended it, "" if none
// did. What a crash leaves is what was done until then: no step that cleans up
// is deferred.
func dies(write func() turn.Result) (r turn.Result, at string) {
	defer func() {
		if v := recover(); v != nil {
			d, ok := v.(died)
			if !ok {
				panic(v)
			}
			at = d.step
		}
	}()
	return write(), ""
}

// TestCrashAtEveryStep ends the program before and after each step of each kind
// of write. What is left is the file as it was or as it was to be, never
// anything else; Settle says which, leaves nothing beside it, and a write that
// did not happen can be done again.
func TestCrashAtEveryStep(t *testing.T) {
	for _, d := range deeds {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/late %v", d.name, late), func(t *testing.T) {
				states := map[turn.WriteState]int{}
				d.atEachStep(t, func(t *testing.T, f *fixture, disk *faulty, write func(context.Context) turn.Result) {
					before, prepared := tree(t, f.work), len(f.intents)
					disk.die, disk.late = true, late
					r, step := dies(func() turn.Result { return write(t.Context()) })
					f.restarted()
					if step == "" {
						if r.Outcome != turn.OK || !d.holds(f) {
							t.Errorf("without a crash: %s: %s", r.Code, r.Text)
						}
						return
					}
					if len(f.intents) == prepared {
						if diff := differences(before, tree(t, f.work)); diff != "" {
							t.Errorf("%s: not prepared, and %s", step, diff)
						}
						return
					}
					w := f.intents[prepared]
					done := d.holds(f)
					state, found := f.e.Settle(w)
					states[state]++
					if done != (state == turn.WriteDone) || done == (state == turn.WriteNotDone) || found == "" || strings.HasSuffix(found, ".") {
						t.Fatalf("%s: done is %v, settled as %s: %s", step, done, state, found)
					}
					f.noTemporary()
					if again, _ := f.e.Settle(w); again != state {
						t.Errorf("%s: settled as %s, then as %s", step, state, again)
					}
					if done {
						return
					}
					if diff := differences(before, tree(t, f.work)); diff != "" {
						t.Errorf("%s: not done, and %s", step, diff)
					}
					if r := write(t.Context()); r.Outcome != turn.OK || !d.holds(f) {
						t.Errorf("%s: once more: %s: %s", step, r.Code, r.Text)
					}
				})
				if states[turn.WriteDone] == 0 || states[turn.WriteNotDone] == 0 || len(states) != 2 {
					t.Errorf("settled as %v", states)
				}
			})
		}
	}
}

// TestSettleDoesNotGuess changes what a crash left, in every way that makes the
// file neither what it was nor what it was to be.
func TestSettleDoesNotGuess(t *testing.T) {
	crashed := func(t *testing.T) (*fixture, turn.WriteIntent) {
		f := newFixture(t).writing()
		f.write("work/a/e.txt", "one\n")
		disk := &faulty{disk: realDisk{}, die: true}
		disk.before = func(step string) {
			if step == string(crash.TempSynced) {
				disk.at = len(disk.steps)
			}
		}
		f.e.disk = disk
		call := f.call("Edit", args{"file_path": "a/e.txt", "old_string": "one", "new_string": "two"})
		if _, at := dies(func() turn.Result { return call(t.Context()) }); at != string(crash.TempSynced) {
			t.Fatalf("it ended at %q", at)
		}
		f.restarted()
		return f, f.intents[0]
	}
	remove := func(t *testing.T, path string) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		then  func(t *testing.T, f *fixture)
		state turn.WriteState
		found string
		kept  bool // the temporary file stays: nobody knows what it is by now
	}{
		"nothing":             {func(*testing.T, *fixture) {}, turn.WriteNotDone, "the file has the content that it had before", false},
		"changed by somebody": {func(t *testing.T, f *fixture) { f.write("work/a/e.txt", "three\n") }, turn.WriteUnknown, hashOf([]byte("three\n")), false},
		"done by somebody":    {func(t *testing.T, f *fixture) { f.write("work/a/e.txt", "two\n") }, turn.WriteDone, "the file has the content that was to be written", false},
		"removed":             {func(t *testing.T, f *fixture) { remove(t, f.path("work/a/e.txt")) }, turn.WriteUnknown, "the file is gone", false},
		"its folder removed":  {func(t *testing.T, f *fixture) { remove(t, f.path("work/a")) }, turn.WriteUnknown, "the folder that held the file is gone", false},
		"made a folder": {func(t *testing.T, f *fixture) {
			remove(t, f.path("work/a/e.txt"))
			f.mkdir("work/a/e.txt")
		}, turn.WriteUnknown, "is a folder", true},
		"made a link": {func(t *testing.T, f *fixture) {
			remove(t, f.path("work/a/e.txt"))
			f.write("work/b.txt", "two\n")
			f.symlink("../b.txt", "work/a/e.txt")
		}, turn.WriteUnknown, "symbolic link", true},
		"a second name": {func(t *testing.T, f *fixture) { f.link("work/a/e.txt", "work/b.txt") }, turn.WriteUnknown, "2 names", true},
		"its folder replaced": {func(t *testing.T, f *fixture) {
			if err := os.Rename(f.path("work/a"), f.path("work/old")); err != nil {
				t.Fatal(err)
			}
			f.write("work/a/e.txt", "one\n")
		}, turn.WriteUnknown, "its folder is another one", false},
		"its folder made a link": {func(t *testing.T, f *fixture) {
			if err := os.Rename(f.path("work/a"), f.path("work/old")); err != nil {
				t.Fatal(err)
			}
			f.symlink("old", "work/a")
		}, turn.WriteUnknown, "symbolic link", true},
		"the temporary file is another": {func(t *testing.T, f *fixture) {
			remove(t, f.intents[0].Temp)
			f.mkdir(strings.TrimPrefix(f.intents[0].Temp, f.base+"/"))
		}, turn.WriteUnknown, "cannot be removed", true},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := crashed(t)
			c.then(t, f)
			before := tree(t, f.work)
			state, found := f.e.Settle(w)
			if state != c.state || !strings.Contains(found, c.found) {
				t.Errorf("%s: %s", state, found)
			}
			after := tree(t, f.work)
			if !c.kept {
				delete(before, w.Temp)
			}
			if diff := differences(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSettleRemovesOnlyWhatIsItsOwn gives it intents that name other files.
func TestSettleRemovesOnlyWhatIsItsOwn(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "one\n")
	f.write("work/other.txt", "x")
	f.write("work/"+tempName("act_other"), "x")
	f.write("work/sub/"+tempName("act_mine"), "x")
	state := turn.FileState{Exists: true, SHA256: hashOf([]byte("one\n"))}
	before := tree(t, f.work)
	for _, temp := range []string{"work/other.txt", "work/e.txt", "work", "work/sub/" + tempName("act_mine"), "work/sub/../" + tempName("act_mine"), "none/" + tempName("act_other")} {
		w := turn.WriteIntent{Path: f.path("work/e.txt"), Temp: f.path(temp), Before: state, After: turn.FileState{Exists: true, SHA256: "x"}}
		if state, found := f.e.Settle(w); state != turn.WriteNotDone {
			t.Errorf("%s: %s %s", temp, state, found)
		}
	}
	if diff := differences(before, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
}

func TestLook(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "one\n")
	if err := os.Chmod(f.path("work/e.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	state, content, err := f.e.Look(f.path("work/e.txt"))
	if want := (turn.FileState{Exists: true, SHA256: hashOf([]byte("one\n")), Bytes: 4, Mode: 0o640}); err != nil || state != want || string(content) != "one\n" {
		t.Errorf("%+v %q %v", state, content, err)
	}
	for _, path := range []string{"work/none", "work/no/ne"} {
		if state, content, err := f.e.Look(f.path(path)); err != nil || state != turn.Absent || content != nil {
			t.Errorf("%s: %+v %q %v", path, state, content, err)
		}
	}
	f.symlink("e.txt", "work/link")
	f.symlink("work", "alias")
	for _, path := range []string{f.path("work/link"), f.path("alias/e.txt"), f.work, "e.txt", "/", f.work + "/", f.path("work/../work/e.txt"), f.path("people/me/.ssh/id")} {
		if state, content, err := f.e.Look(path); err == nil || state.Exists || content != nil {
			t.Errorf("%s: %+v %q", path, state, content)
		}
	}
}
