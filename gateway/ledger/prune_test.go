package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// estate collects what there is of a session, which is there.
func (w *world) estate(id turn.SessionID) ledger.Estate {
	w.t.Helper()
	estates, err := w.Estates([]turn.SessionID{id, id, "ses_nobody"})
	if err != nil || len(estates) != 1 {
		w.t.Fatalf("%d estates: %v", len(estates), err)
	}
	return estates[0]
}

// takeBack undoes a write.
func (w *world) takeBack(id turn.ActionID, now string, result turn.Result) turn.ActionID {
	w.t.Helper()
	undo, err := w.BeginUndo(id)
	if err != nil {
		w.t.Fatal(err)
	}
	intent := turn.WriteIntent{Path: "/src/f", Before: turn.FileState{Exists: true, SHA256: hashOf(now), Bytes: int64(len(now))}}
	if err := w.Prepare(undo.ID, intent, []byte(now)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Finish(undo.ID, result); err != nil {
		w.t.Fatal(err)
	}
	return undo.ID
}

var undone = turn.Result{Outcome: turn.OK, Text: "undone", Write: &turn.WriteMark{Path: "/src/f"}}

func TestNothingIsLeftOfAPrunedSessionButOneEvent(t *testing.T) {
	w := newWorld(t)
	other := w.writer("other")
	w.overwrite(other, large("shared"))
	w.fail(other.Run.ID)
	kept := w.bodies()

	in := startInput("k", 8)
	in.Profile, in.Workspace, in.Prompt = turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"}, large("prompt")
	e, err := w.Start(in)
	if err != nil {
		t.Fatal(err)
	}
	id := e.Session.ID
	w.overwrite(e, large("shared"))
	write := w.overwrite(e, large("own"))
	w.fail(e.Run.ID)
	going, err := w.Continue(continueInput(e, "key-1"))
	if err != nil {
		t.Fatal(err)
	}
	w.overwrite(going, "small")
	w.fail(going.Run.ID)
	undos := []turn.ActionID{w.takeBack(write, large("now"), turn.Failure(turn.UndoConflict, "it changed")), w.takeBack(write, large("now"), undone)}

	if s, err := w.Prunable(id); err != nil || s.ID != id {
		t.Fatal(err)
	}
	heard := false
	w.heard = func(got turn.SessionID) { heard = heard || got == id }
	if err := w.Prune(w.estate(id)); err != nil {
		t.Fatal(err)
	}
	if !heard {
		t.Error("nobody was told")
	}
	w.check()
	if n, err := w.Sweep(); err != nil || n != 3 {
		t.Errorf("%d bodies went: %v", n, err)
	}
	if diff := cmp.Diff(kept, w.bodies()); diff != "" {
		t.Error(diff)
	}
	for name, err := range map[string]error{
		"view":     second(w.View(id)),
		"writes":   second(w.Writes(id)),
		"prunable": second(w.Prunable(id)),
		"continue": second(w.Continue(continueInput(e, "key-1"))), // a repeat
		"stop":     second(w.Stop(ledger.StopInput{Session: id, By: ledger.ByUser})),
		"retire":   w.RetireWorktree(id),
	} {
		if err == nil {
			t.Errorf("%s answers", name)
			continue
		}
		wantCode(t, err, turn.UnknownSession)
	}
	for _, a := range append(undos, write) {
		if _, err := w.Action(a); err == nil {
			t.Errorf("action %s is there", a)
		}
	}
	if _, _, err := w.Run(going.Run.ID); err != ledger.ErrRunSettled {
		t.Errorf("its run: %v", err)
	}
	events, err := w.Events(0, id, 1000)
	if err != nil || len(events) != 1 || events[0].Kind != "session.pruned" || events[0].By != "user" || events[0].Files != 3 {
		t.Errorf("events: %+v, %v", events, err)
	}
	if last, err := w.LastEvent(); err != nil || last != events[0].Seq {
		t.Errorf("the last event is %d: %v", last, err)
	}
	// The key of its start is free again.
	in.ID = turn.NewSessionID()
	if again, err := w.Start(in); err != nil || again.Replay {
		t.Errorf("started again: %+v, %v", again, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestASessionInUseIsNotPruned(t *testing.T) {
	w := newWorld(t)
	live := w.writer("live")
	a := w.authorise(live)
	asked := startInput("asked", 8)
	asked.AskFor = time.Hour
	waiting, err := w.Start(asked)
	if err != nil {
		t.Fatal(err)
	}
	lost := w.start("lost")
	if _, err := w.EndRun(lost.Run.ID, ledger.End{Verb: turn.Lose, Code: turn.ShimLost}); err != nil {
		t.Fatal(err)
	}
	undoing := w.writer("undoing")
	written := w.overwrite(undoing, "x")
	w.fail(undoing.Run.ID)
	undo, err := w.BeginUndo(written)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   turn.SessionID
		code turn.Code
	}{{live.Session.ID, turn.RunActive}, {waiting.Session.ID, turn.ApprovalPending},
		{lost.Session.ID, turn.RecoveryRequiredCode}, {undoing.Session.ID, turn.SessionInUse}} {
		wantCode(t, second(w.Prunable(c.id)), c.code)
		wantCode(t, w.Prune(w.estate(c.id)), c.code)
	}
	// Each can go once that has ended.
	w.prepare(a, "x")
	w.finish(a.ID, "written")
	w.fail(live.Run.ID)
	if _, err := w.Finish(undo.ID, turn.Failure(turn.UndoConflict, "no")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []turn.SessionID{waiting.Session.ID, lost.Session.ID} {
		if _, err := w.Stop(ledger.StopInput{Session: id, By: ledger.ByUser}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []turn.SessionID{live.Session.ID, waiting.Session.ID, lost.Session.ID, undoing.Session.ID} {
		if err := w.Prune(w.estate(id)); err != nil {
			t.Error(err)
		}
	}
	// One whose lease has ended while its run has not.
	late := w.start("late")
	w.now = w.now.Add(2 * time.Hour)
	if _, err := w.ExpireDue(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, second(w.Prunable(late.Session.ID)), turn.RunActive)
}

// TestAPruneAndARunExcludeEachOther races the two, and a second prune.
func TestAPruneAndARunExcludeEachOther(t *testing.T) {
	w := newWorld(t)
	ran, pruned := 0, 0
	for i := range 60 {
		e := w.writer(fmt.Sprint("key-", i))
		w.overwrite(e, large("x"))
		w.fail(e.Run.ID)
		estate := w.estate(e.Session.ID)
		var going ledger.Effect
		var errs [3]error
		var calls sync.WaitGroup
		calls.Go(func() { going, errs[0] = w.Continue(continueInput(e, "key-c")) })
		for n := 1; n < 3; n++ {
			calls.Go(func() { errs[n] = w.Prune(estate) })
		}
		calls.Wait()
		switch {
		case errs[0] == nil:
			ran++
			wantCode(t, errs[1], turn.RunActive)
			wantCode(t, errs[2], turn.RunActive)
			w.fail(going.Run.ID)
			// It has changed since.
			wantCode(t, w.Prune(estate), turn.SessionInUse)
		default:
			pruned++
			if (errs[1] == nil) == (errs[2] == nil) {
				t.Fatalf("two prunes: %v, %v", errs[1], errs[2])
			}
			for _, err := range errs {
				if err != nil {
					wantCode(t, err, turn.UnknownSession)
				}
			}
		}
	}
	t.Logf("%d runs began, %d sessions were pruned", ran, pruned)
	w.check()
	if _, err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
}

// TestWhateverIsDoneTheRecordsAndTheirBodiesAgree does writes, undos, retention,
// prunes and reopenings in random order. The invariants hold after each, and
// after a sweep the body files are exactly those that the records name.
func TestWhateverIsDoneTheRecordsAndTheirBodiesAgree(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t)
			r := rand.New(rand.NewPCG(seed, 0))
			d := &random{world: w, r: r, undos: map[turn.SessionID][]turn.ActionID{}}
			for range 50 {
				d.step()
				w.now = w.now.Add(time.Duration(r.IntN(300)) * time.Second)
				w.check()
			}
			d.tidy()
		})
	}
}

// random does one thing after another.
type random struct {
	*world
	r     *rand.Rand
	going []ledger.Effect // with an open run
	ended []ledger.Effect
	undos map[turn.SessionID][]turn.ActionID
	keys  int
}

func (d *random) step() {
	switch n := d.r.IntN(100); {
	case n < 15:
		in := startInput(fmt.Sprint("key ", d.keys), 100)
		d.keys++
		in.Profile, in.Workspace, in.Prompt = turn.DirectWrite, ledger.WorkspaceRecord{Kind: "direct", Root: "/src"}, d.content()
		e, err := d.Start(in)
		d.must(err)
		d.going = append(d.going, e)
	case n < 50 && len(d.going) > 0:
		e := pick(d.r, d.going)
		v, err := d.View(e.Session.ID)
		d.must(err)
		if v.Session.Lease.Expired(d.now) {
			return
		}
		d.overwrite(e, d.content())
	case n < 60 && len(d.going) > 0:
		i := d.r.IntN(len(d.going))
		d.fail(d.going[i].Run.ID)
		d.ended, d.going = append(d.ended, d.going[i]), slices.Delete(d.going, i, i+1)
	case n < 65 && len(d.ended) > 0:
		i := d.r.IntN(len(d.ended))
		d.keys++
		in := continueInput(d.ended[i], fmt.Sprint("key ", d.keys))
		in.Prompt, in.MaxLive = d.content(), 100
		e, err := d.Continue(in)
		if err != nil {
			wantCode(d.t, err, turn.LeaseExpiredCode)
			return
		}
		d.going, d.ended = append(d.going, e), slices.Delete(d.ended, i, i+1)
	case n < 75 && len(d.ended) > 0:
		e := pick(d.r, d.ended)
		writes, err := d.Writes(e.Session.ID)
		d.must(err)
		if len(writes) == 0 {
			return
		}
		a := pick(d.r, writes)
		if a.CanUndo() != nil {
			if _, err := d.BeginUndo(a.ID); err == nil {
				d.t.Errorf("%s was undone again, or without its content", a.ID)
			}
			return
		}
		result := undone
		if d.r.IntN(3) == 0 {
			result = turn.Failure(turn.UndoConflict, "it changed")
		}
		d.undos[e.Session.ID] = append(d.undos[e.Session.ID], d.takeBack(a.ID, d.content(), result))
	case n < 80:
		_, err := d.Forget(ledger.BeforeLimits{For: time.Duration(d.r.IntN(3600)) * time.Second, Bytes: int64(d.r.IntN(100 << 10))})
		d.must(err)
	case n < 88 && len(d.ended) > 0:
		i := d.r.IntN(len(d.ended))
		id := d.ended[i].Session.ID
		d.must(d.Prune(d.estate(id)))
		d.ended = slices.Delete(d.ended, i, i+1)
		delete(d.undos, id)
	case n < 92:
		_, err := d.ExpireDue()
		d.must(err)
	case n < 96: // as by a crash: without the sweep that a retention ends with
		d.must(d.Close())
		d.open()
	default:
		d.tidy()
	}
}

func (d *random) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// content is one of a few, so that many records have the same.
func (d *random) content() string {
	name := fmt.Sprint("content ", d.r.IntN(8))
	if d.r.IntN(3) == 0 {
		return name
	}
	return large(name)
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// tidy sweeps and compares the files with what the records name.
func (d *random) tidy() {
	d.t.Helper()
	_, err := d.Sweep()
	d.must(err)
	named := []string{}
	name := func(bodies ...ledger.Body) {
		for _, b := range bodies {
			if b.Stored() && !slices.Contains(named, b.SHA256) {
				named = append(named, b.SHA256)
			}
		}
	}
	views, err := d.Views()
	d.must(err)
	if len(views) != len(d.going)+len(d.ended) {
		d.t.Errorf("%d sessions, want %d", len(views), len(d.going)+len(d.ended))
	}
	for _, v := range views {
		name(v.Run.Prompt)
		if v.Session.LastResult != nil {
			name(v.Session.LastResult.Text, v.Session.LastResult.Changes)
		}
		past, more, err := d.History(v.Session.ID, 10_000)
		if err != nil || more {
			d.t.Fatal(err)
		}
		for _, p := range past {
			name(p.Run.Prompt)
			if p.Turn.Reply != nil {
				name(p.Turn.Reply.Text)
			}
			for _, a := range p.Actions {
				name(a.Arguments, a.Text, a.Before)
			}
		}
		// A run without a turn is not in the history.
		for run := v.Session.Run; run != ""; {
			r, _, err := d.Run(run)
			d.must(err)
			name(r.Prompt)
			run = r.Prev
		}
		for _, id := range d.undos[v.Session.ID] {
			a, err := d.Action(id)
			d.must(err)
			name(a.Arguments, a.Text, a.Before)
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(named, d.bodies()); diff != "" {
		d.t.Errorf("named by records, and there as files:\n%s", diff)
	}
}
