package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func TestWhatAPersonReads(t *testing.T) {
	w := newWorld(t).serve()
	w.engine.warnings = []string{"Claude Code 2.1.332 is not a verified version"}
	for name, args := range map[string][]string{
		"sessions.txt":       {"sessions"},
		"sessions-all.txt":   {"sessions", "--all"},
		"sessions-color.txt": {"sessions", "--color", "always"},
		"show.txt":           {"show", "4k2ma"},
		"show-full.txt":      {"show", "4k2ma", "--full"},
		"show-lost.txt":      {"show", sesLost},
		"show-old.txt":       {"show", "zzzz"},
		"stop.txt":           {"stop", "4k2mb", "--reason", "wrong folder"},
		"log.txt":            {"log"},
		"log-one.txt":        {"log", "4k2ma", "--limit", "1"},
		"log-json.txt":       {"log", "--json"},
		"help.txt":           {"--help"},
		"show-asks.txt":      {"show", sesAsks},
		"show-worktree.txt":  {"show", sesDocs},
		"show-writes.txt":    {"show", sesLost, "--full"},
		"approve.txt":        {"approve"},
		"deny.txt":           {"deny", "qqq"},
		"undo-dry.txt":       {"undo", "act_7hq2", "--dry-run"},
		"worktrees.txt":      {"worktrees"},
		"worktrees-diff.txt": {"worktrees", "diff", "4k2mb"},
		"apply.txt":          {"worktrees", "apply", "4k2mb"},
		"apply-dry.txt":      {"worktrees", "apply", "4k2mb", "--dry-run"},
		"commit.txt":         {"worktrees", "commit", "4k2mb", "-m", "docs: round up"},
		"resume.txt":         {"resume"},
		"ask.txt":            {"ask", "off"},
		"awake.txt":          {"awake", "off"},
		"stop-all.txt":       {"stop", "--all", "--reason", "wrong folder"},
		"trust.txt":          {"trust"},
		"revoke.txt":         {"trust", "revoke", "/srv/docs"},
		"revoke-all.txt":     {"trust", "revoke", "--all"},
		"remove.txt":         {"worktrees", "remove", "4k2mb", "--force"},
	} {
		r := w.run(args...)
		if r.code != exitOK || r.err != "" {
			t.Errorf("deckhand %s: exit code %d, %s", strings.Join(args, " "), r.code, r.err)
		}
		if !strings.Contains(name, "color") {
			noEscapes(t, name, r.out)
		}
		w.golden(name, r.out)
	}
	if w.engine.reason != "wrong folder" {
		t.Errorf("the reason that arrived is %q", w.engine.reason)
	}
}

func TestJSONIsWholeAndEqualsWhatTheGatewaySays(t *testing.T) {
	w := newWorld(t).serve()
	var list sessionList
	if err := json.Unmarshal([]byte(w.run("sessions", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 5 || list.Gateway == nil || list.Gateway.PID != 4711 || list.Sessions[0].Label != "shop\x1b[31m tests" {
		t.Errorf("sessions --json: %+v", list)
	}
	var snapshot session.Snapshot
	if err := json.Unmarshal([]byte(w.run("show", "4k2ma", "--json").out), &snapshot); err != nil {
		t.Fatal(err)
	}
	if snapshot.SessionID != sesShop || snapshot.PendingTurn == nil || len(snapshot.PendingTurn.Results) != 3 {
		t.Errorf("show --json: %+v", snapshot)
	}
}

func TestSecretsArePrintedOnlyWhereTheyAreAskedFor(t *testing.T) {
	w := newWorld(t).serve()
	if r := w.run("token"); r.out != "local-secret\n" {
		t.Errorf("token prints %q", r.out)
	}
	if r := w.run("token", "--rotate"); r.out != "new-secret\n" {
		t.Errorf("token --rotate prints %q", r.out)
	}
	r := w.run("recover", "4k2ma")
	if !strings.Contains(r.out, "rcv_secret") || !strings.Contains(r.out, sesShop) || strings.Contains(r.out, "\x1b") {
		t.Errorf("recover prints %q", r.out)
	}
	for _, args := range [][]string{{"sessions", "--json"}, {"show", "4k2ma", "--json"}, {"log", "--json"}, {"stop", "4k2mb", "--json"}} {
		r := w.run(args...)
		for _, secret := range []string{"rcv_secret", "local-secret", "new-secret"} {
			if strings.Contains(r.out+r.err, secret) {
				t.Errorf("deckhand %s prints %s", strings.Join(args, " "), secret)
			}
		}
	}
}

func TestAnIDMayBeShortenedAsLongAsItNamesOneSession(t *testing.T) {
	list := sampleEngine("/home/u").list
	list = append(list, session.Summary{SessionID: "ses_4k2m"})
	for _, c := range []struct {
		arg, want string
	}{
		{sesShop, sesShop},
		{"ses_4k2ma", sesShop},
		{"4k2mb", sesDocs},
		{"4K2MB", sesDocs},
		{" zz ", sesOld},
		{"ses_4k2m", "ses_4k2m"}, // a whole id, although others begin with it
		{"4k2", ""},
		{"", ""},
		{"ses_", ""},
		{"nothing", ""},
		{sesShop + "x", ""},
	} {
		found, err := resolve(list, c.arg)
		if id := string(found.SessionID); id != c.want || (err == nil) != (c.want != "") {
			t.Errorf("resolve(%q) = %q, %v; want %q", c.arg, found.SessionID, err, c.want)
		}
	}
	_, err := resolve(list, "4k2")
	if exitCode(err) != exitUsage || !strings.Contains(hintOf(err), sesShop) || strings.Contains(hintOf(err), "\x1b") {
		t.Errorf("an ambiguous id: %v, hint %q", err, hintOf(err))
	}
}

func TestShortIDsTellAllSessionsApart(t *testing.T) {
	list := sampleEngine("/home/u").list
	short := shorten(list)
	if got := short(sesOld); got != "ses_zzzzcccc" {
		t.Errorf("a short id is %s", got)
	}
	list = append(list, session.Summary{SessionID: turn.SessionID(sesShop[:20] + "xxxxxxxxxx")})
	short = shorten(list)
	if a, b := short(list[0].SessionID), short(list[4].SessionID); a == b || len(a) != 21 {
		t.Errorf("two sessions are both shown as %s, %s", a, b)
	}
	same := []session.Summary{{SessionID: "ses_a"}, {SessionID: "ses_a"}}
	if got := shorten(same)("ses_a"); got != "ses_a" {
		t.Errorf("equal ids end as %s", got)
	}
}

func TestWithoutAGatewayACommandSaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sessions"}, exitFailed, "start one with: deckhand serve"},
		{[]string{"show", "x"}, exitFailed, "no gateway has run"},
		{[]string{"stop", "x"}, exitFailed, "deckhand serve"},
		{[]string{"log"}, exitFailed, "deckhand serve"},
		{[]string{"token"}, exitFailed, "deckhand serve"},
		{[]string{"approve"}, exitFailed, "deckhand serve"},
		{[]string{"deny", "x"}, exitFailed, "deckhand serve"},
		{[]string{"undo", "x"}, exitFailed, "no gateway has run"},
		{[]string{"worktrees"}, exitFailed, "no gateway has run"},
		{[]string{"worktrees", "remove", "x", "--force"}, exitFailed, "no gateway has run"},
	} {
		r := w.run(c.args...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("deckhand %s: exit code %d, %q, want %d, …%s", strings.Join(c.args, " "), r.code, r.err, c.code, c.says)
		}
	}
	if err := os.RemoveAll(w.state); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "DECKHAND_BUBBLEWRAP="+w.state)
	w.run("sessions")
	w.run("doctor")
	w.run("worktrees")
	w.run("undo", "x")
	if _, err := os.Stat(w.state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a command that only looks made the state directory: %v", err)
	}
}

func TestTheTokenIsReadFromItsFileWhenNoGatewayRuns(t *testing.T) {
	w := newWorld(t)
	made, err := admin.LocalTokenPath(w.state).Rotate()
	if err != nil {
		t.Fatal(err)
	}
	if r := w.run("token"); r.out != made.Reveal()+"\n" {
		t.Errorf("token prints %q, %q", r.out, r.err)
	}
	rotated := w.run("token", "--rotate").out
	if rotated == made.Reveal()+"\n" || w.run("token").out != rotated {
		t.Errorf("token --rotate prints %q", rotated)
	}
}

func TestFollowGoesOnUntilInterrupted(t *testing.T) {
	w := newWorld(t).serve()
	ctx, stop := context.WithCancel(t.Context())
	out := &lines{got: make(chan string)}
	done := make(chan result, 1)
	go func() { done <- w.runIn(ctx, out, "log", "4k2ma", "--follow", "--json") }()
	var e turn.Event
	for _, want := range []uint64{2, 3} {
		if err := json.Unmarshal([]byte(<-out.got), &e); err != nil || e.Seq != want {
			t.Fatalf("event %d, want %d: %v", e.Seq, want, err)
		}
	}
	w.engine.happen(turn.Event{Session: sesOld, Kind: "not.followed"})
	w.engine.happen(turn.Event{Session: sesShop, Kind: "followed"})
	if err := json.Unmarshal([]byte(<-out.got), &e); err != nil || e.Kind != "followed" {
		t.Fatalf("the event that followed is %+v: %v", e, err)
	}
	stop()
	if r := <-done; r.code != exitOK || r.err != "" {
		t.Errorf("after the interrupt: exit code %d, %s", r.code, r.err)
	}
}

func TestTheLogKeepsTheNewestAcrossPages(t *testing.T) {
	w := newWorld(t).serve()
	for i := range admin.MaxEvents + 5 {
		w.engine.happen(turn.Event{Session: sesOld, Kind: fmt.Sprint("n", i)})
	}
	var kinds []string
	for line := range strings.Lines(w.run("log", "--json", "-n", "3").out) {
		var e turn.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
	}
	if got := strings.Join(kinds, " "); got != "n1002 n1003 n1004" {
		t.Errorf("the last three are %s", got)
	}
}

func TestWrongUseHasACodeAndAHint(t *testing.T) {
	w := newWorld(t).serve()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"sesions"}, "did you mean: deckhand sessions"},
		{[]string{"frobnicate"}, "deckhand --help lists the commands"},
		{[]string{"show"}, "takes one session"},
		{[]string{"stop", "a", "b"}, "takes one session"},
		{[]string{"sessions", "x"}, "takes no argument"},
		{[]string{"sessions", "--jsn"}, "see deckhand sessions --help"},
		{[]string{"log", "--limit", "0"}, "is not from 1"},
		{[]string{"log", "--limit", "x"}, "invalid argument"},
		{[]string{"stop", "4k2ma", "--reason", strings.Repeat("x", turn.MaxReason+1)}, "at most 1000"},
		{[]string{"sessions", "--color", "red"}, "none of auto"},
		{[]string{"serve", "--lease", "1"}, "--lease: \"1\" is not a duration"},
		{[]string{"serve", "--listen", "0.0.0.0:1", "--allow-root"}, "would let other machines in"},
		{[]string{"--config", "/nowhere/config.toml", "sessions"}, "/nowhere/config.toml"},
		{[]string{"show", "4k2m"}, "begins the ids of 2 sessions"},
		{[]string{"shim"}, "--run is missing"},
		{[]string{"undo"}, "takes one session or one action"},
		{[]string{"undo", "act_b"}, "begins several ids"},
		{[]string{"undo", "4k2m"}, "begins the ids of 2 sessions"},
		{[]string{"worktrees", "aply"}, "takes no argument"},
		{[]string{"worktrees", "diff"}, "takes one session"},
		{[]string{"worktrees", "commit", "4k2mb"}, "give one with -m"},
		{[]string{"worktrees", "commit", "4k2mb", "-m", " "}, "no message"},
		{[]string{"approve", "4k2ma", "4k2mb"}, "takes one session"},
	} {
		r := w.run(c.args...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) || !strings.HasPrefix(r.err, "deckhand: ") {
			t.Errorf("deckhand %s: exit code %d, %q", strings.Join(c.args, " "), r.code, r.err)
		}
	}
	if r := w.run("show", "none"); r.code != exitFailed || !strings.Contains(r.err, "unknown_session") {
		t.Errorf("an unknown session: exit code %d, %q", r.code, r.err)
	}
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	a := &app{stdio: Stdio{}, env: map[string]string{}, now: time.Now}
	for _, cmd := range a.root().Commands() {
		if !cmd.Hidden && cmd.GroupID == "" {
			t.Errorf("%s stands in no group", cmd.Name())
		}
		for _, c := range append(cmd.Commands(), cmd) {
			if !cmd.Hidden && (c.Example == "" || c.Short == "" || strings.HasSuffix(c.Short, ".")) {
				t.Errorf("the help of %s lacks something", c.CommandPath())
			}
		}
	}
}

func TestIDsAreCompleted(t *testing.T) {
	w := newWorld(t).serve()
	r := w.run("__complete", "show", "")
	if !strings.Contains(r.out, sesDocs+"\tdocs\n") || !strings.Contains(r.out, sesShop+"\tshop") || strings.Contains(r.out, "\x1b") {
		t.Errorf("the completion of show is %q", r.out)
	}
}

func TestEveryStatusHasWordsOfItsOwn(t *testing.T) {
	for _, s := range turn.Statuses() {
		r := row(session.Summary{Status: s})
		if doing := tray.Doing(r, noon); doing == string(s) && s != turn.Stopping && s != turn.Stopped {
			t.Errorf("%s has no words", s)
		}
	}
}

func TestPrintableHidesAndObeysNothing(t *testing.T) {
	got := printable("a\r\nb\tc\x1b[2J\u202ed\u009b\xffe\r")
	if want := "a\nb\tc\\u001b[2J\\u202ed\\u009b\\xffe\\u000d"; got != want {
		t.Errorf("printable = %q, want %q", got, want)
	}
}
