package tests

import (
	"syscall"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// row is one line of the table of statuses: the code with which each call is
// refused, "" if it is allowed, "replay" if it answers with the present state.
type row struct{ continued, replied, stopped, recovered string }

// TestTheTableOfStatusesHoldsOnTheWire brings real sessions into each status
// that this version can reach and makes the four calls in it.
func TestTheTableOfStatusesHoldsOnTheWire(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	busy := row{continued: "run_active", replied: "turn_not_pending"}
	for name, c := range map[string]struct {
		reach func(*testing.T, *rig.Gateway, *fakechatgpt.Chat) *fakechatgpt.Session
		want  row
	}{
		"awaiting_approval": {asked, row{continued: "approval_pending", replied: "approval_pending"}},
		"running":           {running, busy},
		"executing":         {executing, busy},
		"waiting_for_gpt":   {waiting, row{continued: "run_active"}},
		"idle":              {idle, row{replied: "turn_not_pending"}},
		"failed":            {failed, row{replied: "turn_not_pending"}},
		"stopping":          {stopping, row{"session_stopped", "session_stopped", "replay", "session_stopped"}},
		"stopped":           {stopped, row{"session_stopped", "session_stopped", "replay", ""}},
		"recovery_required": {lost, row{continued: "recovery_required", replied: "recovery_required"}},
	} {
		t.Run(name, func(t *testing.T) {
			tryRow(t, g, c.want, func(t *testing.T) *fakechatgpt.Session {
				s := c.reach(t, g, g.Chat())
				if s.Last.Status != name {
					t.Fatalf("the session is %s", fakechatgpt.Describe(s.Last))
				}
				return s
			})
		})
	}
}

// TestTheTableHoldsForAnExpiredLease has a gateway of its own, whose leases are
// short.
func TestTheTableHoldsForAnExpiredLease(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With(shortLease...))
	want := row{continued: "lease_expired", replied: "lease_expired"}
	tryRow(t, g, want, func(t *testing.T) *fakechatgpt.Session { return expired(t, g, g.Chat()) })
}

// asked is a session that waits for a person's word.
func asked(t *testing.T, _ *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	return chat.Start(chatgpt.Start{WorkingDirectory: t.TempDir(), Profile: "direct_write", WaitSeconds: 1})
}

// tryRow makes the refused calls on one session, and each allowed one on a
// session of its own, since it changes the status.
func tryRow(t *testing.T, g *rig.Gateway, want row, reach func(*testing.T) *fakechatgpt.Session) {
	calls := []struct {
		name, want string
		make       func(*testing.T, *fakechatgpt.Session) (*chatgpt.Answer, error)
	}{
		{"continue", want.continued, func(t *testing.T, s *fakechatgpt.Session) (*chatgpt.Answer, error) {
			return s.Continue(t.Context(), "Go on.")
		}},
		{"reply", want.replied, func(t *testing.T, s *fakechatgpt.Session) (*chatgpt.Answer, error) {
			id := "trn_none"
			if s.Last.Turn != nil {
				id = s.Last.Turn.ID
			}
			return s.ReplyTo(t.Context(), id, chatgpt.Key(), chatgpt.Reply{Text: "done"})
		}},
		{"stop", want.stopped, func(t *testing.T, s *fakechatgpt.Session) (*chatgpt.Answer, error) {
			return s.Stop(t.Context(), "tried")
		}},
		{"recover", want.recovered, func(t *testing.T, s *fakechatgpt.Session) (*chatgpt.Answer, error) {
			return s.Recover(t.Context())
		}},
	}
	session := reach(t)
	status := session.Last.Status
	for _, call := range calls {
		if call.want != "" {
			tryRefused(t, session, call.name, call.want, call.make)
		}
	}
	// An allowed call may change the status; the next one then needs another
	// session.
	for _, call := range calls {
		if call.want != "" {
			continue
		}
		if session == nil {
			session = reach(t)
		}
		if _, err := call.make(t, session); err != nil {
			t.Errorf("%s should be allowed: %v", call.name, err)
		}
		if session.Last.Status != status {
			end(t, g, session)
			session = nil
		}
	}
	if session != nil {
		end(t, g, session)
	}
}

// tryRefused makes a call that must be refused and must change nothing.
func tryRefused(t *testing.T, s *fakechatgpt.Session, name, want string,
	call func(*testing.T, *fakechatgpt.Session) (*chatgpt.Answer, error)) {
	t.Helper()
	// The first use of a lease is a change of its own.
	before, err := s.Status(t.Context(), 0)
	must(t, err)
	answer, err := call(t, s)
	switch {
	case want == "replay" && (err != nil || !answer.Replay):
		t.Errorf("%s should replay: %v", name, err)
	case want != "replay" && chatgpt.CodeOf(err) != want:
		t.Errorf("%s was answered with %v, want %s", name, err, want)
	}
	after, err := s.Status(t.Context(), 0)
	if err != nil {
		t.Errorf("status always answers the holder, but after a refused %s: %v", name, err)
	} else if after.Revision != before.Revision {
		t.Errorf("a refused %s moved the revision from %d (%s) to %d (%s)", name,
			before.Revision, before.Status, after.Revision, after.Status)
	}
}

// end stops a session, so that it does not count as live any more.
func end(t *testing.T, g *rig.Gateway, s *fakechatgpt.Session) {
	t.Helper()
	g.Thaw()
	if _, err := s.Status(t.Context(), 0); chatgpt.CodeOf(err) == "" {
		s.Halt()
	}
}

// running freezes Claude Code before it can end.
func running(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	// A reply that ends the run leaves it running until Claude Code has ended,
	// which a frozen one does not.
	s := waiting(t, g, chat)
	g.Freeze(g.ClaudeCode().PID)
	s.NoWait = true
	if _, err := s.Reply(t.Context(), chatgpt.Reply{Text: "done"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func executing(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := chat.Start(chatgpt.Start{WorkingDirectory: slowTree(t)})
	s.Turn()
	beginSlow(t, s, 1)
	return s
}

func waiting(t *testing.T, _ *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := chat.Start(chatgpt.Start{})
	s.Turn()
	return s
}

func idle(t *testing.T, _ *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := chat.Start(chatgpt.Start{})
	s.Say("done")
	return s
}

// failed kills Claude Code while it waits.
func failed(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := waiting(t, g, chat)
	must(t, syscall.Kill(g.ClaudeCode().PID, syscall.SIGKILL))
	changed(t, s, "waiting_for_gpt")
	return s
}

// stopping freezes the shim, so that nobody ends Claude Code.
func stopping(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := waiting(t, g, chat)
	g.Freeze(g.Shim().PID)
	if _, err := s.Stop(t.Context(), "tried"); err != nil {
		t.Fatal(err)
	}
	return s
}

func stopped(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := waiting(t, g, chat)
	s.Halt()
	return s
}

// lost kills everything of a run at once.
func lost(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := waiting(t, g, chat)
	self := g.PID()
	for _, p := range g.Processes() {
		if p.PID != self {
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
				t.Fatal(err)
			}
		}
	}
	changed(t, s, "waiting_for_gpt")
	return s
}

func expired(t *testing.T, g *rig.Gateway, chat *fakechatgpt.Chat) *fakechatgpt.Session {
	t.Helper()
	s := waiting(t, g, chat)
	changed(t, s, "waiting_for_gpt")
	if s.Last.Status != "lease_expired" {
		t.Fatalf("nobody answered, and the session is %s", fakechatgpt.Describe(s.Last))
	}
	return s
}

// changed asks until the session has another status than that.
func changed(t *testing.T, s *fakechatgpt.Session, from string) {
	t.Helper()
	rig.Await(t, "the session to leave "+from, func() bool {
		answer, err := s.Status(t.Context(), 0)
		must(t, err)
		return answer.Status != from
	})
}
