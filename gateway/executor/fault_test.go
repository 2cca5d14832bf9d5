package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/crash"
	"deckhand/gateway/turn"
)

// deed is one write of each kind, in a world made for it.
type deed struct {
	name string
	// prepare makes the world and returns what writes in it.
	prepare func(f *fixture) (write func(ctx context.Context) turn.Result)
	path    string
	after   string // content, or "gone"
}

const gone = "(gone)"

func (f *fixture) call(name string, a args) func(context.Context) turn.Result {
	f.t.Helper()
	call, err := f.e.Check(f.scope, name, mustJSON(f.t, a))
	if err != nil {
		f.t.Fatal(err)
	}
	sink := f.sink()
	return func(ctx context.Context) turn.Result { return f.e.Run(ctx, f.scope, call, sink) }
}

// undo makes what takes the last write back.
func (f *fixture) undo() func(context.Context) turn.Result {
	last := len(f.intents) - 1
	w, before := f.intents[last], f.befores[last]
	sink := f.sink()
	return func(ctx context.Context) turn.Result { return f.e.Revert(ctx, w, before, sink) }
}

var deeds = []deed{
	{"edit", func(f *fixture) func(context.Context) turn.Result {
		f.write("work/e.txt", "one\r\ntwo\n")
		return f.call("Edit", args{"file_path": "e.txt", "old_string": "one", "new_string": "1\n1"})
	}, "work/e.txt", "1\r\n1\r\ntwo\n"},
	{"replace", func(f *fixture) func(context.Context) turn.Result {
		f.write("work/e.txt", "one\n")
		return f.call("Write", args{"file_path": "e.txt", "content": "two\n"})
	}, "work/e.txt", "two\n"},
	{"create", func(f *fixture) func(context.Context) turn.Result {
		return f.call("Write", args{"file_path": "e.txt", "content": "two\n"})
	}, "work/e.txt", "two\n"},
	{"create in new folders", func(f *fixture) func(context.Context) turn.Result {
		return f.call("Write", args{"file_path": "a/b/e.txt", "content": "two\n"})
	}, "work/a/b/e.txt", "two\n"},
	{"notebook", func(f *fixture) func(context.Context) turn.Result {
		f.write("work/e.ipynb", `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"raw","source":"a"}]}`)
		return f.call("NotebookEdit", args{"notebook_path": "e.ipynb", "cell_id": "cell-0", "new_source": "b"})
	}, "work/e.ipynb", `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"raw","source":"b"}]}`},
	{"take an edit back", func(f *fixture) func(context.Context) turn.Result {
		f.write("work/e.txt", "one\n")
		f.ok("Edit", args{"file_path": "e.txt", "old_string": "one", "new_string": "two"})
		return f.undo()
	}, "work/e.txt", "one\n"},
	{"take a creation back", func(f *fixture) func(context.Context) turn.Result {
		f.ok("Write", args{"file_path": "a/b/e.txt", "content": "two\n"})
		return f.undo()
	}, "work/a/b/e.txt", gone},
}

// afresh empties the working directory and forgets everything else, as a
// program does that was started again.
func (f *fixture) afresh() {
	f.t.Helper()
	if err := os.RemoveAll(f.work); err != nil {
		f.t.Fatal(err)
	}
	f.mkdir("work")
	f.restarted()
	f.intents, f.befores = nil, nil
}

// restarted makes the executor anew, on a disk that is well.
func (f *fixture) restarted() {
	f.e = &Executor{protected: f.e.protected, searchTime: f.e.searchTime, folderPart: f.e.folderPart, missTime: f.e.missTime, schemas: f.e.schemas, disk: realDisk{}}
}

// holds reports whether the deed is done in the world.
func (d deed) holds(f *fixture) bool {
	b, err := os.ReadFile(f.path(d.path))
	if errors.Is(err, os.ErrNotExist) {
		return d.after == gone
	}
	return err == nil && string(b) == d.after
}

// atEachStep runs do in a new world for each step of a deed.
func (d deed) atEachStep(t *testing.T, do func(t *testing.T, f *fixture, disk *faulty, write func(context.Context) turn.Result)) {
	f := newFixture(t).writing()
	until(func(disk *faulty) {
		f.afresh()
		write := d.prepare(f)
		f.e.disk = disk
		do(t, f, disk, write)
	})
}

// TestFaultsOfTheDisk makes each step fail in turn with each error: what says
// that the file is unchanged leaves everything as it was, and what does not know
// is settled by the file.
func TestFaultsOfTheDisk(t *testing.T) {
	codes := map[unix.Errno]turn.Code{unix.ENOSPC: turn.NoSpace, unix.EIO: turn.IOError, unix.EROFS: turn.ReadOnlyFileSystem}
	for _, d := range deeds {
		for _, c := range []struct {
			errno        unix.Errno
			late, sticky bool
		}{
			{errno: unix.ENOSPC}, {errno: unix.EIO}, {errno: unix.EROFS},
			{errno: unix.EIO, late: true},     // done, and then it fails
			{errno: unix.EROFS, sticky: true}, // and so does all that follows
		} {
			t.Run(fmt.Sprintf("%s/%s late %v sticky %v", d.name, unix.ErrnoName(c.errno), c.late, c.sticky), func(t *testing.T) {
				d.atEachStep(t, func(t *testing.T, f *fixture, disk *faulty, write func(context.Context) turn.Result) {
					before, prepared := tree(t, f.work), len(f.intents)
					disk.err, disk.late, disk.sticky = c.errno, c.late, c.sticky
					r := write(t.Context())
					step := "none"
					if len(disk.steps) >= disk.at {
						step = fmt.Sprintf("%s (step %d of %v)", disk.steps[disk.at-1], disk.at, disk.steps)
					}
					disk.at = 0 // the disk is well again
					checkFault(t, f, d, r, step, codes[c.errno], before, prepared, c.sticky)
				})
			})
		}
	}
}

func checkFault(t *testing.T, f *fixture, d deed, r turn.Result, step string, code turn.Code, before map[string]string, prepared int, sticky bool) {
	t.Helper()
	after := tree(t, f.work)
	switch r.Outcome {
	case turn.OK:
		if !d.holds(f) || r.Write == nil {
			t.Errorf("%s failed; it says ok and is not done: %s", step, r.Text)
		}
		f.noTemporary()
	case turn.Error:
		if r.Code != code {
			t.Errorf("%s failed with %s: %s", step, r.Code, r.Text)
		}
		// Only a disk that fails for good keeps the temporary file, of which the
		// text then tells, and empty folders.
		excused := sticky && (strings.Contains(r.Text, "could not be removed") || leftFolders(before, after))
		if diff := differences(before, after); diff != "" && !excused {
			t.Errorf("%s failed; it says that nothing changed:\n%s\n%s", step, r.Text, diff)
		}
		if diff := differences(contents(before), contents(after)); diff != "" && !strings.Contains(diff, tempPrefix) {
			t.Errorf("%s failed; a file changed: %s", step, diff)
		}
	case turn.OutcomeInterrupted:
		if len(f.intents) != prepared+1 {
			t.Fatalf("%s failed; interrupted, and nothing was prepared", step)
		}
		state, found := f.e.Settle(f.intents[prepared])
		if done := d.holds(f); state == turn.WriteUnknown || done != (state == turn.WriteDone) {
			t.Errorf("%s failed; settled as %s, done is %v: %s", step, state, done, found)
		}
		f.noTemporary()
	default:
		t.Errorf("%s failed; %s: %s", step, r.Outcome, r.Text)
	}
}

// contents keeps of a tree what its files hold.
func contents(tree map[string]string) map[string]string {
	files := map[string]string{}
	for path, s := range tree {
		if strings.HasPrefix(s, "-") {
			files[path] = s
		}
	}
	return files
}

// leftFolders reports whether all that is new are empty folders: a disk that
// fails for good does not let them be removed.
func leftFolders(before, after map[string]string) bool {
	for path, s := range after {
		if before[path] == "" && !strings.HasPrefix(s, "d") {
			return false
		}
	}
	return len(after) > len(before)
}

// TestShortWritesAreGoneOnWith makes the disk take three bytes at a time.
func TestShortWritesAreGoneOnWith(t *testing.T) {
	for _, d := range deeds {
		f := newFixture(t).writing()
		write := d.prepare(f)
		f.e.disk = &faulty{disk: realDisk{}, short: true}
		if r := write(t.Context()); r.Outcome != turn.OK || !d.holds(f) {
			t.Errorf("%s: %s", d.name, r.Text)
		}
	}
}

// TestOrderOfSteps holds the order in which durability is made.
func TestOrderOfSteps(t *testing.T) {
	want := map[string]string{
		"edit":                  "openFile read read before_prepare after_prepare create write write dress syncFile temp_synced openFile read read replace after_rename syncDir before_receipt",
		"create":                "before_prepare after_prepare create write syncFile temp_synced place after_rename syncDir before_receipt",
		"create in new folders": "before_prepare after_prepare makeDir syncDir makeDir syncDir create write syncFile temp_synced place after_rename syncDir before_receipt",
		"take a creation back":  "openFile read read before_prepare after_prepare openFile read read remove after_rename syncDir removeDir syncDir removeDir syncDir before_receipt",
	}
	for _, d := range deeds {
		f := newFixture(t).writing()
		write := d.prepare(f)
		disk := &faulty{disk: realDisk{}}
		f.e.disk = disk
		prepared := len(f.intents)
		disk.before = func(step string) {
			changes := !slices.Contains([]string{"openFile", "read", string(crash.BeforePrepare)}, step)
			if changes && len(f.intents) == prepared {
				t.Errorf("%s: %s before it was prepared", d.name, step)
			}
		}
		write(t.Context())
		if got := strings.Join(disk.steps, " "); want[d.name] != "" && got != want[d.name] {
			t.Errorf("%s:\n got %s\nwant %s", d.name, got, want[d.name])
		}
		for _, p := range crash.WritePoints() {
			if n := strings.Count(" "+strings.Join(disk.steps, " ")+" ", " "+string(p)+" "); n != 1 && !(p == crash.TempSynced && d.after == gone) {
				t.Errorf("%s: the point %s is reached %d times", d.name, p, n)
			}
		}
	}
}

func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	for _, d := range deeds {
		for err, code := range map[error]turn.Code{errors.New("no"): turn.InternalError, fmt.Errorf("store: %w", unix.ENOSPC): turn.NoSpace, unix.EIO: turn.InternalError} {
			f := newFixture(t).writing()
			write := d.prepare(f)
			f.prepared = err
			before := tree(t, f.base)
			if r := write(t.Context()); r.Code != code || r.Outcome != turn.Error {
				t.Errorf("%s: %s: %s", d.name, r.Code, r.Text)
			}
			if diff := differences(before, tree(t, f.base)); diff != "" {
				t.Errorf("%s: %s", d.name, diff)
			}
		}
	}
}

// TestStopBeforeTheRenameLeavesNothing ends the context at each step: before
// the rename nothing stays, from the rename on it is done and says so.
func TestStopBeforeTheRenameLeavesNothing(t *testing.T) {
	for _, d := range deeds {
		t.Run(d.name, func(t *testing.T) {
			stopped := map[bool]int{}
			d.atEachStep(t, func(t *testing.T, f *fixture, disk *faulty, write func(context.Context) turn.Result) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				before, at := tree(t, f.work), disk.at
				disk.at = 0
				disk.before = func(string) {
					if len(disk.steps) == at {
						cancel()
					}
				}
				r := write(ctx)
				switch {
				case r.Outcome == turn.OK:
					if !d.holds(f) || r.Write == nil {
						t.Errorf("step %d: not done: %s", at, r.Text)
					}
				case r.Outcome == turn.OutcomeCancelled && r.Code == turn.CancelledCode:
					if diff := differences(before, tree(t, f.work)); diff != "" {
						t.Errorf("step %d: stopped, and %s", at, diff)
					}
				default:
					t.Errorf("step %d: %+v", at, r)
				}
				if ctx.Err() != nil {
					stopped[r.Outcome == turn.OK]++
				}
				f.noTemporary()
			})
			if stopped[true] == 0 || stopped[false] == 0 {
				t.Errorf("stopped too late %d times, in time %d times", stopped[true], stopped[false])
			}
		})
	}
}
