package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

func TestWhatAPersonAsksForReachesTheGateway(t *testing.T) {
	w := newWorld(t).serve()
	for _, args := range [][]string{
		{"approve"}, {"approve", "qqq"}, {"deny", sesAsks},
		{"undo", "act_7hq2"}, {"undo", "7HQ2"}, {"undo", "4k2mb", "--dry-run"},
		{"worktrees", "apply", "4k2m", "--dry-run"}, // the one that writes in a worktree
		{"worktrees", "commit", "4k2m", "-m", "two\nlines"},
		{"worktrees", "remove", "4k2mb", "--force"}, {"worktrees", "remove", "4k2mb"},
	} {
		r := w.run(args...)
		if r.code != exitOK && args[0] != "undo" {
			t.Errorf("deckhand %s: %+v", strings.Join(args, " "), r)
		}
	}
	want := []string{"approve " + sesAsks + " 3", "approve " + sesAsks + " 3", "deny " + sesAsks + " 3",
		"undo act_7hq2aaaaaaaaaaaa false", "undo act_7hq2aaaaaaaaaaaa false", "undo " + sesDocs + " true",
		"apply " + sesDocs + " true", "commit " + sesDocs + " two\nlines", "remove " + sesDocs + " true", "remove " + sesDocs + " false"}
	if diff := cmp.Diff(want, w.engine.asked); diff != "" {
		t.Error(diff)
	}
}

func TestSwitchesAreTurnedAndShown(t *testing.T) {
	w := newWorld(t).serve()
	for _, c := range []struct {
		args []string
		want turn.Switches
	}{
		{[]string{"pause"}, turn.Switches{Paused: true}},
		{[]string{"ask", "on"}, turn.Switches{Paused: true, AskBeforeWrite: true}},
		{[]string{"awake", "on"}, turn.Switches{Paused: true, AskBeforeWrite: true, KeepAwake: true}},
		{[]string{"ask", "off"}, turn.Switches{Paused: true, KeepAwake: true}},
	} {
		var got turn.Switches
		r := w.run(append(c.args, "--json")...)
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || got != c.want {
			t.Errorf("%v: %+v %v", c.args, r, err)
		}
	}
	if r := w.run("sessions"); !strings.Contains(r.out, "paused, no session can start") {
		t.Errorf("sessions does not say that it is paused:\n%s", r.out)
	}
	for _, args := range [][]string{{"ask"}, {"ask", "maybe"}, {"pause", "now"}} {
		if r := w.run(args...); r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestWhatWasLeftAsItIsIsListedAndMakesTheExitCode(t *testing.T) {
	w := newWorld(t).serve()
	for name, args := range map[string][]string{
		"undo.txt":            {"undo", "4k2mb"},
		"undo-session.txt":    {"undo", "4k2mb", "--dry-run"},
		"apply-conflicts.txt": {"worktrees", "apply", sesLost},
	} {
		r := w.run(args...)
		if r.code != exitFailed || r.err != "" {
			t.Errorf("deckhand %s: exit code %d, %q", strings.Join(args, " "), r.code, r.err)
		}
		noEscapes(t, name, r.out)
		w.golden(name, r.out)
	}
	var report session.UndoReport
	r := w.run("undo", "4k2mb", "--json")
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Conflicts) != 1 || r.code != exitFailed {
		t.Errorf("undo --json: %+v, %v", r, err)
	}
	var apply session.WorktreeApply
	r = w.run("worktrees", "apply", sesLost, "--json")
	if err := json.Unmarshal([]byte(r.out), &apply); err != nil || len(apply.Conflicts) != 1 || r.code != exitFailed {
		t.Errorf("worktrees apply --json: %+v, %v", r, err)
	}
}

func TestNothingIsApprovedByGuessing(t *testing.T) {
	w := newWorld(t).serve()
	other := w.engine.waiting[0]
	other.SessionID, other.Label, other.Profile, other.ExpiresAt = "ses_rrrr", "", turn.WorktreeWrite, noon.Add(-time.Second)
	w.engine.waiting = append(w.engine.waiting, other)
	r := w.run("approve")
	if r.code != exitUsage || !strings.Contains(r.err, "2 sessions wait for your answer") {
		t.Errorf("approve with two that wait: %+v", r)
	}
	noEscapes(t, "approve", r.out)
	w.golden("approve-two.txt", r.out)
	var waiting []session.Waiting
	if err := json.Unmarshal([]byte(w.run("deny", "--json").out), &waiting); err != nil || len(waiting) != 2 {
		t.Errorf("deny --json with two that wait: %v, %v", waiting, err)
	}
	if r := w.run("approve", "zzzz"); r.code != exitFailed || !strings.Contains(r.err, "approval_not_pending") {
		t.Errorf("approve of a session that does not wait: %+v", r)
	}
	if r := w.run("deny", "nobody"); r.code != exitFailed || !strings.Contains(r.err, "unknown_session") {
		t.Errorf("deny of an unknown session: %+v", r)
	}
	w.engine.waiting = nil
	if r := w.run("approve"); r.code != exitOK || r.out != "Nothing waits for your approval.\n" {
		t.Errorf("approve with nothing that waits: %+v", r)
	}
	if r := w.run("approve", "--json"); r.out != "[]\n" {
		t.Errorf("approve --json with nothing that waits: %+v", r)
	}
	if len(w.engine.asked) > 0 {
		t.Errorf("the gateway was asked: %q", w.engine.asked)
	}
}

func TestAPatchIsPrintedByteByByteOrNotAtAll(t *testing.T) {
	w := newWorld(t).serve()
	if r := w.run("worktrees", "patch", "4k2mb"); r.code != exitOK || r.out != patchText || r.err != "" {
		t.Errorf("patch: %+v", r)
	}
	if r := w.run("worktrees", "patch", sesLost); r.code != exitFailed || r.out != "" || r.err == "" {
		t.Errorf("a patch that breaks off: %+v", r)
	}
}

func TestShowHasTheWritesForAProgram(t *testing.T) {
	w := newWorld(t).serve()
	var shown shownSession
	if err := json.Unmarshal([]byte(w.run("show", sesDocs, "--json").out), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.SessionID != sesDocs || len(shown.Writes) != 2 || shown.Writes[0].ActionID != "act_7hq2aaaaaaaaaaaa" {
		t.Errorf("show --json: %+v", shown)
	}
	if r := w.run("show", sesLost); !strings.Contains(r.out, "2 older writes, see --full") || strings.Contains(r.out, "Write 11") {
		t.Errorf("show of many writes:\n%s", r.out)
	}
}
