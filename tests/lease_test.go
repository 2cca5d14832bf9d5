package tests

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// TestARepeatReplaysTheEffect repeats each kind of call with its own key: the
// same input answers with the present state, other input conflicts.
func TestARepeatReplaysTheEffect(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	chat := g.Chat()
	ctx := t.Context()

	start := map[string]any{"prompt": "Look around.", "working_directory": t.TempDir(), "idempotency_key": chatgpt.Key()}
	first, err := chat.Call(ctx, chatgpt.ToolStart, start)
	must(t, err)
	again, err := chat.Call(ctx, chatgpt.ToolStart, start)
	must(t, err)
	if again.Session != first.Session || !again.Replay || first.Replay {
		t.Errorf("a repeated start: session %s, replay %v; the first: %s, %v", again.Session, again.Replay, first.Session, first.Replay)
	}
	start["prompt"] = "Look elsewhere."
	_, err = chat.Call(ctx, chatgpt.ToolStart, start)
	conflict(t, "start", err)

	s := chat.Join(first.Session, first.Lease, first.RecoveryToken)
	turn := s.Turn()
	reply := chatgpt.Reply{Calls: []chatgpt.ToolCall{fakechatgpt.Call("Read", map[string]any{"file_path": "/etc/passwd"})}}
	_, err = s.ReplyTo(ctx, turn.ID, "reply-1", reply)
	must(t, err)
	next := s.Turn()
	_, err = s.ReplyTo(ctx, turn.ID, "reply-1", reply)
	must(t, err)
	if !s.Last.Replay || s.Last.Turn == nil || s.Last.Turn.ID != next.ID {
		t.Errorf("a repeated reply should show the present turn: %s", fakechatgpt.Describe(s.Last))
	}
	_, err = s.ReplyTo(ctx, turn.ID, "reply-1", chatgpt.Reply{Text: "other"})
	conflict(t, "reply", err)
	s.Say("done")

	goOn := map[string]any{"native_session_id": s.ID, "lease_id": s.Lease, "prompt": "Go on.", "idempotency_key": "continue-1"}
	_, err = chat.Call(ctx, chatgpt.ToolContinue, goOn)
	must(t, err)
	s.Say("done again")
	repeated, err := chat.Call(ctx, chatgpt.ToolContinue, goOn)
	must(t, err)
	if !repeated.Replay || repeated.Status != "idle" {
		t.Errorf("a repeated continue should show the present state: %s", fakechatgpt.Describe(repeated))
	}
	goOn["prompt"] = "Go elsewhere."
	_, err = chat.Call(ctx, chatgpt.ToolContinue, goOn)
	conflict(t, "continue", err)

	stop := map[string]any{"native_session_id": s.ID, "lease_id": s.Lease, "request_id": "stop-1"}
	for i := range 2 {
		answer, err := chat.Call(ctx, chatgpt.ToolStop, stop)
		must(t, err)
		if answer.Replay != (i == 1) {
			t.Errorf("stop number %d: replay %v", i+1, answer.Replay)
		}
	}
	runs := 0
	for _, e := range g.Events(s.ID) {
		if strings.HasPrefix(e.Kind, "run.") && strings.HasSuffix(e.Kind, "started") {
			runs++
		}
	}
	if runs > 2 {
		t.Errorf("%d runs were started by two calls", runs)
	}
}

func conflict(t *testing.T, what string, err error) {
	t.Helper()
	if code := chatgpt.CodeOf(err); code != "idempotency_conflict" {
		t.Errorf("%s with the same key and other input: %v, want idempotency_conflict", what, err)
	}
}

// TestTwoClientsCannotBothAnswerATurn lets two conversations with one lease
// answer the same turn at the same time.
func TestTwoClientsCannotBothAnswerATurn(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	turn := s.Turn()
	const clients = 4
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		other := g.Chat().Join(s.ID, s.Lease, "")
		wg.Go(func() {
			_, errs[i] = other.ReplyTo(t.Context(), turn.ID, chatgpt.Key(), chatgpt.Reply{Text: fmt.Sprint("answer ", i)})
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Errorf("clients %d and %d both answered the turn", winner, i)
		case chatgpt.CodeOf(err) != "turn_not_pending":
			t.Errorf("client %d was refused with %v", i, err)
		}
	}
	if winner < 0 {
		t.Fatalf("nobody answered the turn: %v", errs)
	}
	if text := s.Ended("idle").LastResult.Text; text != fmt.Sprint("answer ", winner) {
		t.Errorf("the run's result is %q, but client %d was told that its reply counts", text, winner)
	}
}

// TestRecoveryRotatesLeaseAndToken follows the tokens of three recovers.
func TestRecoveryRotatesLeaseAndToken(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	turn := s.Turn()
	first := chatgpt.Session{}
	first.Lease, first.Token = s.Lease, s.Token

	// A new conversation takes over, and its answer gets lost: the old token
	// must work once more.
	lost := g.Chat().Join(s.ID, "", first.Token)
	_, err := lost.Recover(t.Context())
	must(t, err)
	taken := g.Chat().Join(s.ID, "", first.Token)
	answer, err := taken.Recover(t.Context())
	must(t, err)
	if taken.Lease == first.Lease || taken.Lease == lost.Lease || taken.Token == first.Token {
		t.Error("lease or token were not rotated")
	}
	if answer.Turn == nil || answer.Turn.ID != turn.ID || answer.Turn.Prompt == nil || len(answer.Turn.Tools) == 0 {
		t.Errorf("the new conversation is not shown the whole turn: %s", fakechatgpt.Describe(answer))
	}
	// The lease is used: from now on the earlier tokens are worth nothing.
	_, err = taken.Status(t.Context(), 0)
	must(t, err)
	if _, err := taken.Reply(t.Context(), chatgpt.Reply{Text: "done"}); err != nil {
		t.Fatal(err)
	}
	taken.Ended("idle")
	for name, token := range map[string]string{"first": first.Token, "lost": lost.Token, "made-up": "x"} {
		_, err := g.Chat().Join(s.ID, "", token).Recover(t.Context())
		if name == "made-up" || name == "first" {
			if code := chatgpt.CodeOf(err); code != "recovery_refused" {
				t.Errorf("the %s token: %v, want recovery_refused", name, err)
			}
		}
	}
	for name, lease := range map[string]string{"first": first.Lease, "lost": lost.Lease} {
		if _, err := g.Chat().Join(s.ID, lease, "").Status(t.Context(), 0); chatgpt.CodeOf(err) != "lease_mismatch" {
			t.Errorf("the %s lease: %v, want lease_mismatch", name, err)
		}
	}
}

// shortLease is a lease that ends within a test, and leaves Claude Code the time
// to start on a busy machine.
var shortLease = []string{"DECKHAND_LEASE=25s", "DECKHAND_MAX_WAIT=20s"}

// TestAnExpiredLeaseStopsTheRunAndStaysReadable waits until nobody has answered
// for too long.
func TestAnExpiredLeaseStopsTheRunAndStaysReadable(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With(shortLease...))
	s := expired(t, g, g.Chat())
	g.AwaitOnlyItself()
	answer, err := s.Status(t.Context(), 0)
	must(t, err)
	if answer.Status != "lease_expired" || answer.Turn != nil || answer.Run != nil {
		t.Errorf("an expired session shows %s", fakechatgpt.Describe(answer))
	}
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Last.Status != "idle" {
		t.Errorf("a recovered session is %s", fakechatgpt.Describe(s.Last))
	}
	if _, err := s.Continue(t.Context(), "Go on."); err != nil {
		t.Fatal(err)
	}
	s.Say("done")
}
