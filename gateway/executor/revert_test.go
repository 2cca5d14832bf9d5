package executor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// TestTenWritesAreTakenBack undoes a session of mixed writes, newest first, and
// gets every byte and mode back.
func TestTenWritesAreTakenBack(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/a.txt", "one\r\ntwo\n")
	f.write("work/sub/b.sh", bom+"#!/bin/sh\r\n")
	f.write("work/n.ipynb", sampleNotebook)
	if err := os.Chmod(f.path("work/sub/b.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	states := func() map[string]string {
		all := tree(t, f.work)
		for path, s := range all { // a file that is restored is a new one
			before, rest, _ := strings.Cut(s, " inode ")
			_, rest, _ = strings.Cut(rest, " links ")
			all[path] = before + rest
		}
		return all
	}
	first := states()
	f.ok("Edit", args{"file_path": "a.txt", "old_string": "one", "new_string": "1"})
	f.ok("Write", args{"file_path": "new/folder/c.txt", "content": "c"})
	f.ok("Edit", args{"file_path": "new/folder/c.txt", "old_string": "c", "new_string": "d"})
	f.ok("Write", args{"file_path": "new/folder/deep/d.txt", "content": ""})
	f.ok("Write", args{"file_path": "sub/b.sh", "content": "echo\n"})
	f.ok("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": "cell-1", "new_source": "x"})
	f.ok("NotebookEdit", args{"notebook_path": "n.ipynb", "cell_id": "intro", "edit_mode": "delete"})
	f.ok("Write", args{"file_path": "a.txt", "content": ""})
	f.ok("Write", args{"file_path": "top.txt", "content": "x"})
	f.ok("Edit", args{"file_path": "sub/b.sh", "old_string": "echo", "new_string": "exit"})
	if len(f.intents) != 10 {
		t.Fatal(len(f.intents))
	}
	for i := 9; i >= 0; i-- {
		r := f.e.Revert(t.Context(), f.intents[i], f.befores[i], f.sink())
		if r.Outcome != turn.OK || r.Write == nil || r.Write.PreSHA256 != f.intents[i].After.SHA256 || r.Write.PostSHA256 != f.intents[i].Before.SHA256 {
			t.Fatalf("%d: %s: %+v", i, r.Text, r.Write)
		}
	}
	if diff := differences(first, states()); diff != "" {
		t.Error(diff)
	}
}

func TestRevertLeavesWhatSomebodyChanged(t *testing.T) {
	for name, c := range map[string]struct {
		create bool
		then   func(f *fixture)
		code   turn.Code
		says   string
	}{
		"changed":            {false, func(f *fixture) { f.write("work/e/f.txt", "three") }, turn.UndoConflict, hashOf([]byte("three"))},
		"back to before":     {false, func(f *fixture) { f.write("work/e/f.txt", "one") }, turn.UndoConflict, "has changed since"},
		"removed":            {false, func(f *fixture) { os.Remove(f.path("work/e/f.txt")) }, turn.UndoConflict, "does not exist"},
		"its folder removed": {false, func(f *fixture) { os.RemoveAll(f.path("work/e")) }, turn.UndoConflict, "does not exist"},
		"a link":             {false, func(f *fixture) { os.Remove(f.path("work/e/f.txt")); f.symlink("../x", "work/e/f.txt") }, turn.UndoConflict, "symbolic link"},
		"a second name":      {false, func(f *fixture) { f.link("work/e/f.txt", "work/g") }, turn.UndoConflict, "2 names"},
		"read-only":          {false, func(f *fixture) { os.Chmod(f.path("work/e/f.txt"), 0o444) }, turn.UndoConflict, "read-only"},
		"its folder a link": {false, func(f *fixture) {
			os.Rename(f.path("work/e"), f.path("work/g"))
			f.symlink("g", "work/e")
		}, turn.UndoConflict, "symbolic link"},
		"created and changed":   {true, func(f *fixture) { f.write("work/e/f.txt", "three") }, turn.UndoConflict, "has changed since"},
		"created and removed":   {true, func(f *fixture) { os.Remove(f.path("work/e/f.txt")) }, turn.UndoConflict, "does not exist"},
		"created and read-only": {true, func(f *fixture) { os.Chmod(f.path("work/e/f.txt"), 0o400) }, turn.UndoConflict, "read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t).writing()
			if !c.create {
				f.write("work/e/f.txt", "one")
			}
			f.ok("Write", args{"file_path": "e/f.txt", "content": "two"})
			c.then(f)
			before := tree(t, f.base)
			r := f.e.Revert(t.Context(), f.intents[0], f.befores[0], f.sink())
			if r.Code != c.code || !strings.Contains(r.Text, c.says) || r.Write != nil {
				t.Errorf("%s: %s", r.Code, r.Text)
			}
			if diff := differences(before, tree(t, f.base)); diff != "" || len(f.intents) != 1 {
				t.Errorf("%d prepared, %s", len(f.intents), diff)
			}
		})
	}
}

func TestRevertKeepsFoldersThatAreInUseAndModesThatWereChanged(t *testing.T) {
	f := newFixture(t).writing()
	f.ok("Write", args{"file_path": "a/b/c/d.txt", "content": "x"})
	f.write("work/a/other", "")
	r := f.e.Revert(t.Context(), f.intents[0], f.befores[0], f.sink())
	if r.Outcome != turn.OK || !strings.Contains(r.Text, "2 of the 3 folders") {
		t.Error(r.Text)
	}
	if _, err := os.Stat(f.path("work/a/b")); !os.IsNotExist(err) {
		t.Error("the empty folders are still there")
	}
	if f.read("work/a/other") != "" {
		t.Error("a file of somebody else is gone")
	}
	f.write("work/s.sh", "one")
	f.ok("Edit", args{"file_path": "s.sh", "old_string": "one", "new_string": "two"})
	if err := os.Chmod(f.path("work/s.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	last := len(f.intents) - 1
	if r := f.e.Revert(t.Context(), f.intents[last], f.befores[last], f.sink()); r.Outcome != turn.OK {
		t.Error(r.Text)
	}
	if info, err := os.Stat(f.path("work/s.sh")); err != nil || info.Mode() != 0o755 || f.read("work/s.sh") != "one" {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// An undo can be undone: what it removed comes back with its mode.
	f.ok("Write", args{"file_path": "e.txt", "content": "x"})
	if err := os.Chmod(f.path("work/e.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	last = len(f.intents) - 1
	f.e.Revert(t.Context(), f.intents[last], f.befores[last], f.sink())
	undo, removed := f.intents[last+1], f.befores[last+1]
	if r := f.e.Revert(t.Context(), undo, removed, f.sink()); r.Outcome != turn.OK || f.read("work/e.txt") != "x" {
		t.Error(r.Text)
	}
	if info, err := os.Stat(f.path("work/e.txt")); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	r = f.e.Revert(t.Context(), undo, removed, f.sink())
	if r.Code != turn.UndoConflict || !strings.Contains(r.Text, "exists again") {
		t.Error(r.Text)
	}
	r = f.e.Revert(t.Context(), undo, []byte("other"), f.sink())
	if r.Code != turn.InternalError {
		t.Error(fmt.Sprint(r))
	}
}
