//go:build soak

package tests

import (
	"testing"
	"time"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/rig"
)

// How long the soak holds what a person lets wait. With -short it only shows
// that it works.
func soakTimes() (turn, call time.Duration) {
	if testing.Short() {
		return 90 * time.Second, 45 * time.Second
	}
	return 35 * time.Minute, 11 * time.Minute
}

// TestSoakAParkedTurn leaves a turn unanswered for as long as a long lunch.
func TestSoakAParkedTurn(t *testing.T) {
	t.Parallel()
	held, _ := soakTimes()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	turn := s.Turn()
	claude := g.ClaudeCode()
	hold(t, held, func() {
		if now := s.Turn(); now.ID != turn.ID || !s.Last.RuntimeAttached {
			t.Fatalf("after a while another turn waits, or nobody: %s, was %s", now.ID, turn.ID)
		}
	})
	if now := g.ClaudeCode(); now != claude {
		t.Errorf("Claude Code is another process: %+v, was %+v", now, claude)
	}
	s.One("Read", map[string]any{"file_path": "/etc/passwd"})
	s.Say("done")
}

// TestSoakAParkedToolCall holds a tool call: its gateway is killed while it is
// under way, and comes back long after.
func TestSoakAParkedToolCall(t *testing.T) {
	t.Parallel()
	_, held := soakTimes()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: slowTree(t)})
	s.Turn()
	claude := g.ClaudeCode()
	beginSlow(t, s, 1)
	g.Crash()
	hold(t, held, func() {
		if now := g.ClaudeCode(); now != claude {
			t.Fatalf("Claude Code is another process: %+v, was %+v", now, claude)
		}
	})
	g.Again()
	s = g.Chat().Join(s.ID, s.Lease, s.Token)
	results := s.Turn().Results
	if len(results) != 1 || results[0].Outcome != "ok" {
		t.Fatalf("the call brought %+v", results)
	}
	s.Say("done")
	if said := g.ClaudeTranscript(); said.Results[results[0].ToolCall] != 1 || said.ErrorResults != 0 {
		t.Errorf("Claude Code has %d results of the call, and %d errors", said.Results[results[0].ToolCall], said.ErrorResults)
	}
}

// hold waits for d and looks now and then.
func hold(t *testing.T, d time.Duration, look func()) {
	t.Helper()
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		look()
		time.Sleep(min(20*time.Second, time.Until(end)))
	}
}
