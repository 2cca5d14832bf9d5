package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deckhand/gateway/crash"
	"deckhand/gateway/turn"
)

// TestNoWriteFollowsAFolderThatBecomesALink swaps a folder on the way for a link
// out of the root and back, as fast as it goes, while writes of every kind try
// to get through. Whatever they say, nothing outside changes.
func TestNoWriteFollowsAFolderThatBecomesALink(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/d/s/e.txt", "one\n")
	f.write("outside/s/e.txt", "one\n")
	f.symlink(f.path("outside"), "work/l")
	before := tree(t, f.path("outside"))
	var stop atomic.Bool
	var wg sync.WaitGroup
	r, swaps := dice(t), 0
	wg.Go(func() {
		for !stop.Load() {
			// Folder and link exchange their names in one step.
			if err := exchange(f.path("work/d"), f.path("work/l")); err != nil {
				t.Error(err)
				return
			}
			swaps++
			time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
		}
	})
	outcomes := map[turn.Code]int{}
	for i := 0; i < 300 || i < 20_000 && (outcomes[""] == 0 || len(outcomes) < 2); i++ {
		name, a := "Write", args{"file_path": fmt.Sprintf("d/s/new%d/x", i%3), "content": fmt.Sprint(i)}
		switch i % 3 {
		case 1:
			a = args{"file_path": "d/s/e.txt", "content": fmt.Sprint(i)}
		case 2:
			name, a = "Edit", args{"file_path": "d/s/e.txt", "old_string": fmt.Sprint(i - 1), "new_string": fmt.Sprint(i)}
		}
		outcomes[f.run(name, a).Code]++
		if i%50 == 0 && len(f.intents) > 0 {
			last := len(f.intents) - 1
			f.e.Revert(t.Context(), f.intents[last], f.befores[last], f.sink())
			f.e.Settle(f.intents[last])
		}
	}
	stop.Store(true)
	wg.Wait()
	if d := differences(before, tree(t, f.path("outside"))); d != "" {
		t.Errorf("outside the root, after %d swaps:\n%s", swaps, d)
	}
	if outcomes[""] == 0 || len(outcomes) < 2 {
		t.Errorf("%d swaps, %v: there was no race", swaps, outcomes)
	}
	f.noTemporary()
}

// TestNoWriteFollowsAFileThatBecomesALink does the same with the file.
func TestNoWriteFollowsAFileThatBecomesALink(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "one\n")
	f.write("outside/e.txt", "one\n")
	f.symlink(f.path("outside/e.txt"), "work/l")
	before := tree(t, f.path("outside"))
	r := dice(t)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			if err := exchange(f.path("work/e.txt"), f.path("work/l")); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
		}
	})
	outcomes := map[turn.Code]int{}
	for i := 0; i < 300 || i < 20_000 && (outcomes[""] == 0 || len(outcomes) < 2); i++ {
		outcomes[f.run("Write", args{"file_path": "e.txt", "content": fmt.Sprint(i)}).Code]++
	}
	stop.Store(true)
	wg.Wait()
	if d := differences(before, tree(t, f.path("outside"))); d != "" {
		t.Errorf("outside the root:\n%s", d)
	}
	// Which refusal a lost race brings depends on where the write was.
	if outcomes[""] == 0 || len(outcomes) < 2 {
		t.Errorf("%v: there was no race", outcomes)
	}
	f.noTemporary()
}

// TestAChangeBesideIsSeen lets somebody else change the file, or what it lies
// in, at each step of a write. Before the last comparison the write sees it and
// leaves what the other one wrote.
func TestAChangeBesideIsSeen(t *testing.T) {
	for name, change := range map[string]func(f *fixture) error{
		"written in place":   func(f *fixture) error { return os.WriteFile(f.path("work/d/e.txt"), []byte("two\n"), 0o644) },
		"appended to":        func(f *fixture) error { return os.WriteFile(f.path("work/d/e.txt"), []byte("one\ntwo\n"), 0o644) },
		"of the same length": func(f *fixture) error { return os.WriteFile(f.path("work/d/e.txt"), []byte("0ne\n"), 0o644) },
		"renamed over": func(f *fixture) error {
			if err := os.WriteFile(f.path("x"), []byte("one\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(f.path("x"), f.path("work/d/e.txt"))
		},
		"made read-only":    func(f *fixture) error { return os.Chmod(f.path("work/d/e.txt"), 0o444) },
		"removed":           func(f *fixture) error { return os.Remove(f.path("work/d/e.txt")) },
		"given a link":      func(f *fixture) error { return os.Link(f.path("work/d/e.txt"), f.path("x")) },
		"its folder moved":  func(f *fixture) error { return os.Rename(f.path("work/d"), f.path("moved")) },
		"its folder a link": func(f *fixture) error { return exchange(f.path("work/d"), f.path("work/l")) },
	} {
		for _, step := range []string{string(crash.BeforePrepare), string(crash.AfterPrepare), "create", "write", "dress", string(crash.TempSynced), "openFile", "read", "read to the end"} {
			f := newFixture(t).writing()
			f.write("work/d/e.txt", "one\n")
			f.write("outside/e.txt", "one\n")
			f.symlink(f.path("outside"), "work/l")
			disk := &faulty{disk: realDisk{}}
			done := false
			var after map[string]string
			disk.before = func(at string) {
				// The file is opened and read, and again to be compared: first all
				// of it, then its end.
				comparing := slices.Index(disk.steps, string(crash.TempSynced))
				switch {
				case done:
					return
				case step == "read to the end":
					if comparing < 0 || strings.Count(strings.Join(disk.steps[comparing:], " "), "read") != 2 {
						return
					}
					time.Sleep(20 * time.Millisecond) // clocks of file systems are coarse
				case at != step || (at == "openFile" || at == "read") && comparing < 0:
					return
				}
				done = true
				if err := change(f); err != nil {
					t.Fatal(err)
				}
				after = tree(t, f.base)
				for path := range after {
					if validTemp(filepath.Base(path)) {
						delete(after, path)
					}
				}
			}
			f.e.disk = disk
			r := f.call("Write", args{"file_path": "d/e.txt", "content": "mine\n"})(t.Context())
			if r.Code != turn.FileChanged {
				t.Errorf("%s at %s: %s: %s", name, step, r.Code, r.Text)
			}
			if d := differences(after, tree(t, f.base)); d != "" {
				t.Errorf("%s at %s: %s", name, step, d)
			}
		}
	}
}

// TestAFileThatAppearsIsNotReplaced lets somebody else create the file that a
// write is about to create, up to the rename itself.
func TestAFileThatAppearsIsNotReplaced(t *testing.T) {
	for _, step := range []string{string(crash.BeforePrepare), string(crash.AfterPrepare), "create", "write", "syncFile", string(crash.TempSynced), "place"} {
		f := newFixture(t).writing()
		f.mkdir("work")
		disk := &faulty{disk: realDisk{}}
		disk.before = func(at string) {
			if at == step {
				f.write("work/e.txt", "theirs\n")
			}
		}
		f.e.disk = disk
		r := f.call("Write", args{"file_path": "e.txt", "content": "mine\n"})(t.Context())
		if r.Code != turn.FileChanged || f.read("work/e.txt") != "theirs\n" {
			t.Errorf("at %s: %s: %q: %s", step, r.Code, f.read("work/e.txt"), r.Text)
		}
		f.noTemporary()
	}
}

// TestFoldersMadeTogether lets many writes make the same new folders at once.
func TestFoldersMadeTogether(t *testing.T) {
	f := newFixture(t).writing()
	var wg sync.WaitGroup
	results := make([]turn.Result, 16)
	for i := range results {
		wg.Go(func() {
			raw := fmt.Appendf(nil, `{"file_path":"a/b/c/%d","content":"x"}`, i)
			sink := Sink{Action: turn.NewActionID(), Prepare: func(turn.WriteIntent, []byte) error { return nil }}
			results[i] = f.e.Run(t.Context(), f.scope, turn.ToolCall{Name: "Write", Arguments: raw}, sink)
		})
	}
	wg.Wait()
	for i, r := range results {
		if r.Outcome != turn.OK || f.read(fmt.Sprintf("work/a/b/c/%d", i)) != "x" {
			t.Errorf("%d: %s", i, r.Text)
		}
	}
	f.noTemporary()
}

// TestWritesOfOneFileTakeTurns is E42: parallel calls have receipts of their own
// and nothing is lost.
func TestWritesOfOneFileTakeTurns(t *testing.T) {
	f := newFixture(t).writing()
	var text strings.Builder
	const n = 24
	for i := range n {
		fmt.Fprintf(&text, "word%d.\n", i)
	}
	f.write("work/e.txt", text.String())
	results := make([]turn.Result, n+1)
	var wg sync.WaitGroup
	for i := range n + 1 { // the last one is not there
		wg.Go(func() {
			raw := fmt.Appendf(nil, `{"file_path":"e.txt","old_string":"word%d.","new_string":"done%d."}`, i, i)
			sink := Sink{Action: turn.NewActionID(), Prepare: func(turn.WriteIntent, []byte) error { return nil }}
			results[i] = f.e.Run(t.Context(), f.scope, turn.ToolCall{Name: "Edit", Arguments: raw}, sink)
		})
	}
	wg.Wait()
	for i, r := range results {
		if (r.Outcome == turn.OK) != (i < n) {
			t.Errorf("%d: %s: %s", i, r.Code, r.Text)
		}
	}
	if got, want := f.read("work/e.txt"), strings.ReplaceAll(text.String(), "word", "done"); got != want {
		t.Errorf("%q", got)
	}
	f.noTemporary()
}
