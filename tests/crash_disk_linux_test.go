package tests

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway"
	"deckhand/gateway/turn"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// TestDisksThatFailLeaveFilesAsTheyWere has real disks, in memory, run full and
// turn read-only under a session that writes, and under the ledger. Errors that
// no disk in memory has are injected at every step in package executor's tests.
func TestDisksThatFailLeaveFilesAsTheyWere(t *testing.T) {
	if !rig.OwnMounts(t) {
		return
	}
	t.Run("full", aFullDisk)
	t.Run("no names", aDiskWithoutNames)
	t.Run("read-only", aReadOnlyDisk)
	t.Run("full under the ledger", aFullDiskUnderTheLedger)
	t.Run("full after a crash", aDiskThatIsFullAfterACrash)
	t.Run("filled by a crash", aDiskThatACrashFilled)
	t.Run("read-only after a crash, before the rename", aReadOnlyDiskBeforeTheRename)
	t.Run("read-only after a crash, after the rename", aReadOnlyDiskAfterTheRename)
}

// project is a folder on a disk of its own, with a session that writes there.
type project struct {
	t    *testing.T
	g    *rig.Gateway
	disk *rig.Disk
	s    *fakechatgpt.Session
	dir  string
}

const projectNames = 40

func newProject(t *testing.T, disk *rig.Disk, options ...rig.Option) *project {
	t.Helper()
	p := &project{t: t, disk: disk, dir: filepath.Join(disk.Path, "project")}
	must(t, os.Mkdir(p.dir, 0o755))
	must(t, os.WriteFile(p.path("kept.txt"), []byte("one\r\n"+strings.Repeat("filler\n", 20_000)), 0o640))
	must(t, os.WriteFile(p.path("n.ipynb"), []byte(`{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}`), 0o644))
	p.g = rig.Start(t, append(options, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify"))...)
	p.s = p.g.Chat().Start(chatgpt.Start{WorkingDirectory: p.dir, Profile: "direct_write"})
	p.s.Turn()
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

// The writes, one of each kind.
var (
	editKept  = fakechatgpt.Call("Edit", map[string]any{"file_path": "kept.txt", "old_string": "one", "new_string": "two"})
	overKept  = fakechatgpt.Call("Write", map[string]any{"file_path": "kept.txt", "content": strings.Repeat("other\n", 20_000)})
	writeNew  = fakechatgpt.Call("Write", map[string]any{"file_path": "new.txt", "content": "new\n"})
	writeDeep = fakechatgpt.Call("Write", map[string]any{"file_path": "made/deep/new.txt", "content": "deep\n"})
	addCell   = fakechatgpt.Call("NotebookEdit", map[string]any{"notebook_path": "n.ipynb", "edit_mode": "insert", "position": "end", "cell_type": "markdown", "new_source": "cell"})
)

// tree is every file and folder of the project with its mode and content.
func (p *project) tree() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	must(p.t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		found[strings.TrimPrefix(path, p.dir)] = text
		return nil
	}))
	return found
}

// refused makes calls of which each must fail with a code and its words, and
// change nothing.
func (p *project) refused(code turn.Code, words string, calls ...chatgpt.ToolCall) {
	p.t.Helper()
	before := p.tree()
	for i, r := range p.s.Do(calls...).Results {
		if r.Outcome != "error" || r.Receipt.Code != string(code) || !strings.Contains(r.Text, words) {
			p.t.Errorf("%s %v: %s %s: %s", r.Name, calls[i].Arguments["file_path"], r.Outcome, r.Receipt.Code, r.Text)
		}
	}
	p.unchanged(before)
}

func (p *project) unchanged(before map[string]string) {
	p.t.Helper()
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		p.t.Errorf("the project changed:\n%.2000s", diff)
	}
}

// done makes calls that must succeed.
func (p *project) done(calls ...chatgpt.ToolCall) []chatgpt.Result {
	p.t.Helper()
	results := p.s.Do(calls...).Results
	for _, r := range results {
		if r.Outcome != "ok" {
			p.t.Fatalf("%s: %s %s: %s", r.Name, r.Outcome, r.Receipt.Code, r.Text)
		}
	}
	return results
}

// undo takes all back, and returns what was not.
func (p *project) undo() []string {
	p.t.Helper()
	report, err := p.g.Admin().UndoSession(p.t.Context(), turn.SessionID(p.s.ID), false)
	must(p.t, err)
	var conflicts []string
	for _, c := range report.Conflicts {
		conflicts = append(conflicts, c.Text)
	}
	return conflicts
}

// over ends the run and checks what is left behind in the ledger.
func (p *project) over() {
	p.t.Helper()
	p.s.Say("done")
	must(p.t, p.g.Stop())
	p.sound()
}

// sound checks the ledger of a gateway that does not run.
func (p *project) sound() {
	p.t.Helper()
	reader, err := gateway.OpenReader(p.g.State)
	must(p.t, err)
	broken, err := reader.CheckLedger(p.t.Context())
	must(p.t, err)
	must(p.t, reader.Close())
	if len(broken) > 0 {
		p.t.Errorf("the ledger is broken: %v", broken)
	}
}

// aFullDisk runs full before a write, and half-way through one.
func aFullDisk(t *testing.T) {
	t.Parallel()
	p := newProject(t, rig.NewDisk(t, 1<<20, projectNames))
	first := p.tree()
	for _, spare := range []int64{0, 64 << 10} {
		p.disk.Fill(spare)
		p.refused(turn.NoSpace, "no space is left on the disk", editKept)
		p.refused(turn.NoSpace, "no space is left on the disk", overKept)
		if spare == 0 {
			p.refused(turn.NoSpace, "no space is left on the disk", writeNew, writeDeep, addCell)
		}
		p.disk.Free()
	}
	p.done(editKept, writeDeep, addCell)
	after := p.tree()
	p.disk.Fill(0)
	for _, text := range p.undo() {
		if !strings.Contains(text, "no space is left on the disk") {
			t.Errorf("an undo on the full disk: %s", text)
		}
	}
	changed := p.tree()
	if maps.Equal(changed, first) || changed["/kept.txt"] != after["/kept.txt"] || changed["/n.ipynb"] != after["/n.ipynb"] {
		t.Error("an undo on the full disk changed files that it could not write")
	}
	p.disk.Free()
	if conflicts := p.undo(); len(conflicts) > 0 {
		t.Errorf("with space again, an undo fails: %v", conflicts)
	}
	p.unchanged(first)
	p.over()
}

// aDiskWithoutNames has space, and no more files and folders fit.
func aDiskWithoutNames(t *testing.T) {
	t.Parallel()
	p := newProject(t, rig.NewDisk(t, 1<<20, projectNames))
	p.disk.FillNames(0)
	p.refused(turn.NoSpace, "no space is left on the disk", editKept, writeNew, writeDeep, addCell)
	for spare := 1; spare <= 2; spare++ { // for one folder, for both and not the file
		p.disk.Free()
		p.disk.FillNames(spare)
		p.refused(turn.NoSpace, "no space is left on the disk", writeDeep)
	}
	p.disk.Free()
	p.done(editKept, writeNew, writeDeep, addCell)
	p.over()
}

// aReadOnlyDisk is mounted read-only in the middle of a session.
func aReadOnlyDisk(t *testing.T) {
	t.Parallel()
	p := newProject(t, rig.NewDisk(t, 1<<20, projectNames))
	first := p.tree()
	p.done(editKept, writeDeep)
	p.disk.ReadOnly(true)
	p.refused(turn.ReadOnlyFileSystem, "the file system is mounted read-only",
		fakechatgpt.Call("Edit", map[string]any{"file_path": "kept.txt", "old_string": "two", "new_string": "three"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "other/new.txt", "content": "x"}), writeNew, addCell)
	before := p.tree()
	conflicts := p.undo()
	if len(conflicts) != 2 {
		t.Errorf("an undo on the read-only disk: %v", conflicts)
	}
	for _, text := range conflicts {
		if !strings.Contains(text, "read-only") {
			t.Errorf("an undo on the read-only disk: %s", text)
		}
	}
	p.unchanged(before)
	p.disk.ReadOnly(false)
	p.done(writeNew, addCell)
	if conflicts := p.undo(); len(conflicts) > 0 {
		t.Errorf("on the disk that is writable again, an undo fails: %v", conflicts)
	}
	p.unchanged(first)
	p.over()
}

// crashed has the gateway die at a point of an edit.
func crashed(t *testing.T, at rig.Option) *project {
	t.Helper()
	p := newProject(t, rig.NewDisk(t, 1<<20, projectNames), at)
	// The gateway dies during this call or soon after.
	_, _ = p.s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{editKept}})
	rig.Await(t, "the gateway to kill itself", func() bool { return !p.g.Running() })
	p.sound()
	return p
}

// next starts the next gateway, and a conversation with its session.
func (p *project) next() {
	p.t.Helper()
	p.g.AgainPlain()
	p.s = p.g.Chat().Join(p.s.ID, p.s.Lease, p.s.Token)
}

// aDiskThatIsFullAfterACrash has no space when a write has to begin again.
func aDiskThatIsFullAfterACrash(t *testing.T) {
	t.Parallel()
	p := crashed(t, rig.CrashingAt(t, "after_prepare"))
	before := p.tree()
	p.disk.Fill(0)
	p.next()
	if r := p.s.Turn().Results[0]; r.Receipt.Code != string(turn.NoSpace) {
		t.Errorf("the edit brought %s %s: %s", r.Outcome, r.Receipt.Code, r.Text)
	}
	p.unchanged(before)
	p.disk.Free()
	p.done(editKept)
	p.over()
}

// aDiskThatACrashFilled has no space but what the crash left beside the file,
// which is given back first.
func aDiskThatACrashFilled(t *testing.T) {
	t.Parallel()
	p := crashed(t, rig.CrashingAt(t, "temp_synced"))
	if len(p.tree()) != 4 { // the folder, two files and the temporary one
		t.Fatalf("the crash left %v", slices.Collect(maps.Keys(p.tree())))
	}
	p.disk.Fill(0)
	p.next()
	if r := p.s.Turn().Results[0]; r.Outcome != "ok" {
		t.Errorf("the edit brought %s %s: %s", r.Outcome, r.Receipt.Code, r.Text)
	}
	if after := p.tree(); len(after) != 3 || !strings.Contains(after["/kept.txt"], " two\r\n") {
		t.Errorf("afterwards there is %v", slices.Collect(maps.Keys(after)))
	}
	p.over()
}

// aReadOnlyDiskAfterTheRename holds the edit, of which nobody has heard.
func aReadOnlyDiskAfterTheRename(t *testing.T) {
	t.Parallel()
	p := crashed(t, rig.CrashingAt(t, "after_rename"))
	p.disk.ReadOnly(true)
	p.next()
	if r := p.s.Turn().Results[0]; r.Outcome != "ok" || r.Receipt.ID == "" {
		t.Errorf("the edit brought %s %s: %s", r.Outcome, r.Receipt.Code, r.Text)
	}
	if after := p.tree(); len(after) != 3 || !strings.Contains(after["/kept.txt"], " two\r\n") {
		t.Errorf("afterwards there is %v", slices.Collect(maps.Keys(after)))
	}
	p.disk.ReadOnly(false)
	p.over()
}

// aReadOnlyDiskBeforeTheRename keeps what a crash left beside the file: the
// session is stopped and says its name, and goes on when a person says so.
func aReadOnlyDiskBeforeTheRename(t *testing.T) {
	t.Parallel()
	p := crashed(t, rig.CrashingAt(t, "temp_synced"))
	before := p.tree()
	p.disk.ReadOnly(true)
	p.next()
	rig.Await(t, "the session to be stopped", func() bool {
		answer, err := p.s.Status(t.Context(), 0)
		must(t, err)
		return answer.Status == "stopped"
	})
	stop := snapshotOf(t, p.s.Last).StopRequest
	left, err := filepath.Glob(p.path(".deckhand-*.tmp"))
	must(t, err)
	if len(left) != 1 || stop == nil || stop.By != "gateway" || !strings.Contains(stop.Reason, filepath.Base(left[0])) || !strings.Contains(stop.Reason, "read-only") {
		t.Fatalf("%v is left, and the stop says %+v", left, stop)
	}
	p.unchanged(before)
	p.disk.ReadOnly(false)
	must(t, os.Remove(left[0]))
	_, err = p.s.Recover(t.Context())
	must(t, err)
	_, err = p.s.Continue(t.Context(), "Go on.")
	must(t, err)
	p.done(editKept)
	p.over()
}

// aFullDiskUnderTheLedger keeps an intent, a reply and a result from being
// stored. Nothing is written to the project then, the answer says why, and the
// run goes on when there is space.
func aFullDiskUnderTheLedger(t *testing.T) {
	t.Parallel()
	state := rig.NewDisk(t, 32<<20, 4000)
	p := newProject(t, rig.NewDisk(t, 1<<20, projectNames), rig.StateOn(state))
	before := p.tree()
	state.Fill(40 << 10) // for records, and not for the content from before
	p.refused(turn.NoSpace, "before a change it is recorded durably, and that failed: no space is left on the disk", editKept)

	key, opened := chatgpt.Key(), p.s.Last.Turn.ID
	reply := chatgpt.Reply{Calls: []chatgpt.ToolCall{overKept}}
	_, err := p.s.ReplyTo(t.Context(), opened, key, reply)
	if chatgpt.CodeOf(err) != string(turn.NoSpace) || !strings.Contains(err.Error(), "Deckhand's own records") {
		t.Errorf("a reply that cannot be stored: %v", err)
	}
	p.unchanged(before)
	state.Free()
	_, err = p.s.ReplyTo(t.Context(), opened, key, reply)
	must(t, err)
	if r := p.s.Turn().Results[0]; r.Outcome != "ok" || r.Receipt.Attempts != 1 {
		t.Errorf("with space, the same reply brings %s %s: %s", r.Outcome, r.Receipt.Code, r.Text)
	}

	// A result that cannot be stored is brought when it can.
	state.Fill(24 << 10)
	_, err = p.s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{fakechatgpt.Call("Read", map[string]any{"file_path": "kept.txt"})}})
	must(t, err)
	rig.Await(t, "the log to tell that the receipt was not stored", func() bool {
		return slices.ContainsFunc(p.g.Logs(), func(l rig.Log) bool { return strings.Contains(string(l.Text), "store receipt") })
	})
	state.Free()
	if r := p.s.Turn().Results[0]; r.Outcome != "ok" || len(r.Text) < 24<<10 {
		t.Errorf("the read brought %s %s: %d bytes", r.Outcome, r.Receipt.Code, len(r.Text))
	}
	p.over()
}
