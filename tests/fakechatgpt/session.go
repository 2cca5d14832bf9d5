package fakechatgpt

import (
	"testing"

	"deckhand/app/demo/chatgpt"
)

// Session is a session as one conversation sees it.
type Session struct {
	*chatgpt.Session
	t testing.TB
}

// Turn waits until a turn waits for its reply, and returns it.
func (s *Session) Turn() *chatgpt.Turn {
	s.t.Helper()
	answer, err := s.settle()
	if err != nil {
		s.t.Fatalf("wait for a turn: %v", err)
	}
	if answer.Turn == nil {
		s.t.Fatalf("no turn waits: %s", Describe(answer))
	}
	return answer.Turn
}

// settle waits until ChatGPT is the one to act. It asks at least once, since
// another conversation may have acted since the last answer.
func (s *Session) settle() (*chatgpt.Answer, error) {
	if _, err := s.Status(s.t.Context(), 0); err != nil {
		return nil, err
	}
	return s.Await(s.t.Context())
}

// Do replies with calls and returns the turn that brings their results.
func (s *Session) Do(calls ...chatgpt.ToolCall) *chatgpt.Turn {
	s.t.Helper()
	s.Turn()
	if _, err := s.Reply(s.t.Context(), chatgpt.Reply{Calls: calls}); err != nil {
		s.t.Fatalf("reply with %d calls: %v", len(calls), err)
	}
	turn := s.Turn()
	if len(turn.Results) != len(calls) {
		s.t.Fatalf("%d calls brought %d results", len(calls), len(turn.Results))
	}
	return turn
}

// One makes one call and returns its result.
func (s *Session) One(tool string, arguments map[string]any) chatgpt.Result {
	s.t.Helper()
	return s.Do(Call(tool, arguments)).Results[0]
}

// Say replies with text, which ends the run, and returns the state after it.
func (s *Session) Say(text string) *chatgpt.Answer {
	s.t.Helper()
	s.Turn()
	if _, err := s.Reply(s.t.Context(), chatgpt.Reply{Text: text}); err != nil {
		s.t.Fatalf("reply with text: %v", err)
	}
	return s.Ended("idle")
}

// Ended waits until nothing runs and checks the status.
func (s *Session) Ended(status string) *chatgpt.Answer {
	s.t.Helper()
	answer, err := s.settle()
	if err != nil {
		s.t.Fatalf("wait for the end of the run: %v", err)
	}
	if answer.Status != status {
		s.t.Fatalf("the session is not %s: %s", status, Describe(answer))
	}
	return answer
}

// Halt stops the session and waits until it is stopped.
func (s *Session) Halt() *chatgpt.Answer {
	s.t.Helper()
	if _, err := s.Stop(s.t.Context(), "the test is over"); err != nil {
		s.t.Fatalf("stop the session: %v", err)
	}
	return s.Ended("stopped")
}

// Call makes a call for a reply.
func Call(tool string, arguments map[string]any) chatgpt.ToolCall {
	return chatgpt.ToolCall{Name: tool, Arguments: arguments}
}

// Describe says in a line what an answer says.
func Describe(a *chatgpt.Answer) string {
	s := a.Status
	if a.LaunchError != nil {
		s += ", launch error " + a.LaunchError.Code + ": " + a.LaunchError.Message
	}
	if a.LastResult != nil {
		s += ", last run " + a.LastResult.Outcome + ": " + a.LastResult.Text
	}
	if a.Terminal != nil {
		s += ", terminal " + a.Terminal.Outcome + " " + a.Terminal.Code
	}
	return s
}
