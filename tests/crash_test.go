package tests

import (
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/rig"
)

// TestAGatewayThatEndsDuringToolCallsIsNotNoticed ends the gateway, by a kill
// and in good order, while three calls of one reply are under way. Claude Code
// must see one result of each and no error, the ledger must hold one receipt of
// each, and everything goes on in the same process.
func TestAGatewayThatEndsDuringToolCallsIsNotNoticed(t *testing.T) {
	for name, end := range map[string]func(*rig.Gateway) error{
		"killed":  (*rig.Gateway).Kill,
		"stopped": (*rig.Gateway).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := rig.Start(t)
			s := g.Chat().Start(chatgpt.Start{WorkingDirectory: slowTree(t)})
			s.Turn()
			claude := g.ClaudeCode()
			beginSlow(t, s, 3)
			must(t, end(g))
			g.Again()
			if again := g.ClaudeCode(); again != claude {
				t.Errorf("Claude Code is another process: %+v, was %+v", again, claude)
			}
			taken := g.Chat().Join(s.ID, "", s.Token)
			if _, err := taken.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			turn := taken.Turn()
			if len(turn.Results) != 3 {
				t.Fatalf("the searches brought %+v", turn.Results)
			}
			finished := map[string]int{}
			for _, e := range g.Events(s.ID) {
				if e.Kind == "action.finished" {
					finished[string(e.Action)]++
				}
			}
			if got := taken.Say("done"); got.LastResult.Outcome != "completed" {
				t.Errorf("Claude Code did not complete the run: %s", got.LastResult.Outcome)
			}
			said := g.ClaudeTranscript()
			for _, r := range turn.Results {
				if r.Outcome != "ok" || r.Receipt.ID == "" {
					t.Errorf("a search brought %+v", r)
				}
				if n := said.Results[r.ToolCall]; n != 1 {
					t.Errorf("Claude Code has %d results of one call", n)
				}
				if n := finished[r.Action]; n != 1 {
					t.Errorf("one action was finished %d times", n)
				}
			}
			if said.ErrorResults != 0 {
				t.Errorf("Claude Code has %d errors", said.ErrorResults)
			}
		})
	}
}

// TestEveryPointBetweenTurnsSurvivesAKill kills the gateway in each pause of a
// session: before the first reply, after results, and after the end.
func TestEveryPointBetweenTurnsSurvivesAKill(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	first := s.Turn()
	claude := g.ClaudeCode()
	again := func() {
		t.Helper()
		g.Crash()
		g.Again()
		s = g.Chat().Join(s.ID, s.Lease, s.Token)
		if _, err := s.Status(t.Context(), 0); err != nil {
			t.Fatalf("the lease of before should still work: %v", err)
		}
	}
	again()
	if turn := s.Turn(); turn.ID != first.ID {
		t.Errorf("another turn waits after the kill")
	}
	result := s.One("Read", map[string]any{"file_path": "/etc/passwd"})
	second := s.Last.Turn.ID
	again()
	turn := s.Turn()
	if turn.ID != second || len(turn.Results) != 1 || turn.Results[0].Receipt != result.Receipt || turn.Results[0].SHA256 != result.SHA256 {
		t.Errorf("the receipt is another one after the kill")
	}
	if now := g.ClaudeCode(); now != claude {
		t.Errorf("Claude Code is another process: %+v, was %+v", now, claude)
	}
	s.Say("done")
	again()
	if s.Last.Status != "idle" || s.Last.LastResult.Text != "done" {
		t.Errorf("the result is gone after the kill")
	}
	if _, err := s.Continue(t.Context(), "Go on."); err != nil {
		t.Fatal(err)
	}
	s.Say("done again")
}
