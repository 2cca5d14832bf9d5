package tests

import (
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/rig"
)

// impatient makes Claude Code drop a silent stream after 10 s and a silent
// answer after 12 s. The first of the limits counts only together with the
// others: by itself nothing below 300 s is taken.
var impatient = rig.Tuned{ShortWaits: true, ClaudeEnv: []string{
	"CLAUDE_STREAM_IDLE_TIMEOUT_MS=3000", "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS=10000", "API_TIMEOUT_MS=12000"}}

// TestARepeatedRequestIsTheSameTurn makes the real Claude Code lose patience
// twice: it drops its request and sends it again without "stream", and drops
// that. ChatGPT must see one turn, and its one reply must answer it.
func TestARepeatedRequestIsTheSameTurn(t *testing.T) {
	t.Parallel()
	g := rig.InProcess(t, impatient)
	s := g.Chat().Start(chatgpt.Start{})
	turn := s.Turn()
	revision := s.Last.Revision
	g.AwaitRetries(2)
	if now := s.Turn(); now.ID != turn.ID || s.Last.Revision != revision {
		t.Errorf("another turn waits: %s at revision %d, was %s at %d", now.ID, s.Last.Revision, turn.ID, revision)
	}
	result := s.One("Read", map[string]any{"file_path": "/etc/passwd"})
	if result.Outcome != "ok" || result.Receipt.Attempts != 1 {
		t.Errorf("the call ran %d times and is %s", result.Receipt.Attempts, result.Outcome)
	}
	if s.Last.Turn.Sequence != 2 {
		t.Errorf("the next turn has number %d", s.Last.Turn.Sequence)
	}
	if end := s.Say("done"); end.LastResult.Outcome != "completed" || end.LastResult.Text != "done" {
		t.Errorf("the run ended as %s with %q", end.LastResult.Outcome, end.LastResult.Text)
	}
}
