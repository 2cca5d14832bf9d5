package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// world is a ledger with a clock that a test moves.
type world struct {
	t   *testing.T
	dir string
	now time.Time
	// heard, if set, is told of each commit.
	heard func(turn.SessionID)
	*ledger.Ledger
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.open()
	t.Cleanup(func() {
		w.check()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	l, err := ledger.Open(ledger.Options{Dir: w.dir, Now: func() time.Time { return w.now }, OnCommit: func(id turn.SessionID) {
		if w.heard != nil {
			w.heard(id)
		}
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Ledger = l
}

// check fails the test if an invariant is broken: every test ends with it.
func (w *world) check() {
	w.t.Helper()
	broken, err := w.Check()
	if err != nil {
		w.t.Error(err)
	}
	for _, b := range broken {
		w.t.Errorf("invariant: %v", b)
	}
}

func (w *world) start(key string) ledger.Effect {
	w.t.Helper()
	e, err := w.Start(startInput(key, 8))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func startInput(key string, maxLive int) ledger.StartInput {
	return ledger.StartInput{
		Input:         ledger.Input{Scope: ledger.ScopeOf("start", ""), Key: turn.Key(key), Digest: "d-" + key},
		ID:            turn.NewSessionID(),
		ClaudeSession: "11111111-1111-4111-8111-111111111111", Profile: turn.ReadOnly, Subagent: turn.NoSubagent,
		WorkingDirectory: "/src", Prompt: "look around", LeaseFor: time.Hour, MaxLive: maxLive,
	}
}

func (w *world) offer(run turn.RunID, digest string, ids ...turn.ToolUseID) ledger.TurnRecord {
	w.t.Helper()
	rec, err := w.Offer(run, digest, ledger.Tail{Prompt: len(ids) == 0, ToolUses: ids}, none)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func none(turn.ActionID) bool { return false }

func replyInput(e ledger.Effect, id turn.TurnID, key, text string, names ...string) ledger.ReplyInput {
	in := ledger.ReplyInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("reply", string(e.Session.ID), string(id)), Key: turn.Key(key), Digest: text + strings.Join(names, ",")},
		Session: e.Session.ID, Lease: e.Session.Lease.ID, Turn: id, Text: text, LeaseFor: time.Hour,
	}
	for _, n := range names {
		in.Calls = append(in.Calls, turn.ToolCall{Name: n, Arguments: []byte(`{"file_path":"a"}`)})
	}
	return in
}

func (w *world) reply(in ledger.ReplyInput) ledger.Effect {
	w.t.Helper()
	e, err := w.Reply(in)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) actions(id turn.TurnID) []ledger.ActionRecord {
	w.t.Helper()
	a, err := w.Turn(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Actions
}

func (w *world) begin(a ledger.ActionRecord) ledger.ActionRecord {
	w.t.Helper()
	got, err := w.Begin(a.Run, a.ToolUse, a.Name, `{"file_path":"a"}`, none, anyRepeats)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func anyRepeats(ledger.ActionRecord) bool     { return true }
func nothingRepeats(ledger.ActionRecord) bool { return false }

func (w *world) status(id turn.SessionID) turn.Status {
	w.t.Helper()
	v, err := w.View(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return v.Session.Status
}

func wantCode(t *testing.T, err error, code turn.Code) {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if !ok || r.Code != code {
		t.Errorf("got %v, want the refusal %s", err, code)
	}
}

func TestOneTurnFromOfferToReceipt(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	if _, err := w.Attach(e.Run.ID); err != nil {
		t.Fatal(err)
	}
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "r1", "", "Read", "FindFiles"))
	if got := w.status(e.Session.ID); got != turn.Executing {
		t.Fatalf("after a reply with calls: %s", got)
	}
	actions := w.actions(first.ID)
	// They may end in any order; the next turn has the order of the calls.
	for _, i := range []int{1, 0} {
		a := w.begin(actions[i])
		if a.State != turn.Begun || a.Attempts != 1 {
			t.Fatalf("begun action: %+v", a)
		}
		if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK, Text: fmt.Sprint("result ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.status(e.Session.ID); got != turn.Running {
		t.Fatalf("after the last receipt: %s", got)
	}
	second := w.offer(e.Run.ID, "d2", actions[0].ToolUse, actions[1].ToolUse)
	v, err := w.View(e.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, a := range v.Results {
		text, err := w.Text(a.Text)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if got := strings.Join(texts, "|"); got != "result 0|result 1" {
		t.Errorf("results of the turn: %s", got)
	}
	w.reply(replyInput(e, second.ID, "r2", "done"))
	s, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Complete})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != turn.Idle || s.LastResult.Text.Inline != "done" || s.LastResult.Outcome != ledger.RunCompleted {
		t.Errorf("after the run: %s, %+v", s.Status, s.LastResult)
	}
}

func TestSameDigestIsTheSameTurn(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	first := w.offer(e.Run.ID, "d1")
	if again := w.offer(e.Run.ID, "d1"); again.ID != first.ID {
		t.Errorf("a repeat made turn %s beside %s", again.ID, first.ID)
	}
	w.reply(replyInput(e, first.ID, "r1", "", "Read"))
	if again := w.offer(e.Run.ID, "d1"); again.ID != first.ID || again.Reply == nil {
		t.Errorf("a repeat after the reply: %+v", again)
	}
}

func TestOnlyThePromptOrTheReleasedResultsAreATurn(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	offer := func(digest string, prompt bool, ids ...turn.ToolUseID) error {
		_, err := w.Offer(e.Run.ID, digest, ledger.Tail{Prompt: prompt, ToolUses: ids}, none)
		return err
	}
	wantCode(t, offer("x", false, "toolu_1"), turn.UnexpectedModelRequest)
	first := w.offer(e.Run.ID, "d1")
	wantCode(t, offer("x", true), turn.UnexpectedModelRequest)
	w.reply(replyInput(e, first.ID, "r1", "", "Read", "Read"))
	a := w.actions(first.ID)
	for _, ids := range [][]turn.ToolUseID{{}, {a[0].ToolUse}, {a[1].ToolUse, a[0].ToolUse}, {a[0].ToolUse, a[1].ToolUse, "toolu_x"}} {
		wantCode(t, offer("x", false, ids...), turn.UnexpectedModelRequest)
	}
	second := w.offer(e.Run.ID, "d2", a[0].ToolUse, a[1].ToolUse)
	w.reply(replyInput(e, second.ID, "r2", "the end"))
	wantCode(t, offer("x", false), turn.UnexpectedModelRequest)
	wantCode(t, offer("x", true), turn.UnexpectedModelRequest)
}

func TestActionsThatNeverBeganGetTheirReceipt(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "r1", "", "Read", "Read"))
	a := w.actions(first.ID)
	begun := w.begin(a[0])
	flying := func(id turn.ActionID) bool { return id == begun.ID }
	tail := ledger.Tail{ToolUses: []turn.ToolUseID{a[0].ToolUse, a[1].ToolUse}}
	if _, err := w.Offer(e.Run.ID, "d2", tail, flying); !errors.Is(err, ledger.ErrActionOpen) {
		t.Fatalf("a turn while an action runs: %v", err)
	}
	if _, err := w.Finish(begun.ID, turn.Result{Outcome: turn.OK, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	w.offer(e.Run.ID, "d2", a[0].ToolUse, a[1].ToolUse)
	if got := w.actions(first.ID)[1].Receipt; got == nil || got.Outcome != turn.OutcomeNotExecuted {
		t.Errorf("receipt of the call that never came: %+v", got)
	}
}

func TestAnActionRunsAtMostOnceAndItsReceiptNeverChanges(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "r1", "", "Read"))
	a := w.begin(w.actions(first.ID)[0])
	if _, err := w.Begin(a.Run, a.ToolUse, a.Name, `{"file_path":"a"}`, func(turn.ActionID) bool { return true }, anyRepeats); !errors.Is(err, ledger.ErrActionOpen) {
		t.Errorf("a second begin while it runs: %v", err)
	}
	done, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK, Text: "once"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.Error, Text: "twice"}); err == nil {
		t.Error("a receipt was replaced")
	}
	again := w.begin(a)
	if again.State != turn.Finished || again.Receipt.ID != done.Receipt.ID || again.Attempts != 1 {
		t.Errorf("a repeat of a finished action: %+v", again)
	}
}

func TestACallThatWasNotReleasedIsRefused(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "r1", "", "Read"))
	a := w.actions(first.ID)[0]
	other := w.start("other")
	for name, try := range map[string]func() error{
		"another id": func() error {
			_, err := w.Begin(a.Run, "toolu_x", "Read", `{"file_path":"a"}`, none, anyRepeats)
			return err
		},
		"another name": func() error {
			_, err := w.Begin(a.Run, a.ToolUse, "Write", `{"file_path":"a"}`, none, anyRepeats)
			return err
		},
		"other input": func() error {
			_, err := w.Begin(a.Run, a.ToolUse, "Read", `{"file_path":"b"}`, none, anyRepeats)
			return err
		},
		"another run": func() error {
			_, err := w.Begin(other.Run.ID, a.ToolUse, "Read", `{"file_path":"a"}`, none, anyRepeats)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, try(), turn.CallMismatch) })
	}
	if got := w.actions(first.ID)[0].State; got != turn.Authorized {
		t.Errorf("a refused call left the action %s", got)
	}
}

func TestInterruptedReadsBeginAgainAndNothingElseDoes(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		t.Run(fmt.Sprintf("repeatable=%t", repeats), func(t *testing.T) {
			w := newWorld(t)
			e := w.start("k")
			first := w.offer(e.Run.ID, "d1")
			w.reply(replyInput(e, first.ID, "r1", "", "Read"))
			a := w.begin(w.actions(first.ID)[0])
			// A crash: the file is closed without a receipt.
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			w.open()
			if err := w.Interrupt(e.Run.ID); err != nil {
				t.Fatal(err)
			}
			if got := w.actions(first.ID)[0].State; got != turn.Interrupted {
				t.Fatalf("after the crash: %s", got)
			}
			repeatable := anyRepeats
			if !repeats {
				repeatable = nothingRepeats
			}
			again, err := w.Begin(a.Run, a.ToolUse, a.Name, `{"file_path":"a"}`, none, repeatable)
			if err != nil {
				t.Fatal(err)
			}
			if repeats && (again.State != turn.Begun || again.Attempts != 2) {
				t.Errorf("a read: %+v", again)
			}
			if !repeats && (again.State != turn.Finished || again.Receipt.Outcome != turn.OutcomeInterrupted) {
				t.Errorf("not a read: %+v", again)
			}
			if repeats {
				if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK, Text: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.status(e.Session.ID); got != turn.Running {
				t.Errorf("after the receipt: %s", got)
			}
		})
	}
}

func TestReceiptsNotDeliveredGoOutWithTheNextRun(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	first := w.offer(e.Run.ID, "d1")
	w.reply(replyInput(e, first.ID, "r1", "", "Read"))
	a := w.begin(w.actions(first.ID)[0])
	if _, err := w.Finish(a.ID, turn.Result{Outcome: turn.OK, Text: "kept"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Fail, Code: turn.ClaudeExited}); err != nil {
		t.Fatal(err)
	}
	next, err := w.Continue(ledger.ContinueInput{
		Input:   ledger.Input{Scope: "c", Key: "c1", Digest: "x"},
		Session: e.Session.ID, Lease: e.Session.Lease.ID, Prompt: "go on", LeaseFor: time.Hour, MaxLive: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	opened := w.offer(next.Run.ID, "d1 of the second run")
	if len(opened.Results) != 1 || opened.Results[0] != a.ID {
		t.Errorf("the second run's first turn carries %v, want %s", opened.Results, a.ID)
	}
	w.reply(replyInput(e, opened.ID, "r2", "", "Read"))
	b := w.begin(w.actions(opened.ID)[0])
	if _, err := w.Finish(b.ID, turn.Result{Outcome: turn.OK}); err != nil {
		t.Fatal(err)
	}
	if third := w.offer(next.Run.ID, "d2", b.ToolUse); len(third.Results) != 1 || third.Results[0] != b.ID {
		t.Errorf("a delivered receipt went out again: %v", third.Results)
	}
}

func TestSettledRunGetsNothing(t *testing.T) {
	w := newWorld(t)
	e := w.start("k")
	w.offer(e.Run.ID, "d1")
	if _, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Lose, Code: turn.ShimLost}); err != nil {
		t.Fatal(err)
	}
	if got := w.status(e.Session.ID); got != turn.RecoveryRequired {
		t.Errorf("a lost run left the session %s", got)
	}
	if _, err := w.Attach(e.Run.ID); !errors.Is(err, ledger.ErrRunSettled) {
		t.Errorf("attach: %v", err)
	}
	if _, err := w.Offer(e.Run.ID, "d1", ledger.Tail{Prompt: true}, none); !errors.Is(err, ledger.ErrRunSettled) {
		t.Errorf("offer: %v", err)
	}
	if _, err := w.Attach("run_unknown"); !errors.Is(err, ledger.ErrRunSettled) {
		t.Errorf("attach of an unknown run: %v", err)
	}
	if s, err := w.EndRun(e.Run.ID, ledger.End{Verb: turn.Lose, Code: turn.ShimLost}); err != nil || s.Status != turn.RecoveryRequired {
		t.Errorf("a second end: %s, %v", s.Status, err)
	}
}

func TestAFileOfABodyIsSweptOnlyIfNoRecordNamesIt(t *testing.T) {
	w := newWorld(t)
	in := startInput("k", 8)
	in.Prompt = strings.Repeat("long prompt ", 1000)
	e, err := w.Start(in)
	if err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(w.dir, "bodies", strings.Repeat("0", 64))
	if err := os.WriteFile(stray, []byte("left by a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Sweep(); err != nil || n != 1 {
		t.Errorf("sweep removed %d, %v", n, err)
	}
	r, _, err := w.Run(e.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := w.Text(r.Prompt); err != nil || text != in.Prompt {
		t.Errorf("the prompt after the sweep: %d bytes, %v", len(text), err)
	}
}

func TestADamagedBodyIsFound(t *testing.T) {
	w := newWorld(t)
	in := startInput("k", 8)
	in.Prompt = strings.Repeat("x", 10_000)
	e, err := w.Start(in)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := w.Run(e.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, "bodies", r.Prompt.SHA256)
	if err := os.WriteFile(path, []byte(strings.Repeat("y", 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Text(r.Prompt); err == nil {
		t.Error("a damaged body was returned")
	}
	if broken, err := w.Check(); err != nil || len(broken) == 0 {
		t.Errorf("check says %v, %v", broken, err)
	}
	if err := os.WriteFile(path, []byte(in.Prompt), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestASecondOpenNamesTheFirst(t *testing.T) {
	w := newWorld(t)
	for _, readOnly := range []bool{false, true} {
		if _, err := ledger.Open(ledger.Options{Dir: w.dir, ReadOnly: readOnly}); !errors.Is(err, ledger.ErrInUse) {
			t.Errorf("read-only %t: %v", readOnly, err)
		}
	}
}
