package ledger

import (
	"strings"
	"testing"
	"time"

	"deckhand/gateway/turn"
)

// TestWhatIsStoredDuringASweepStays takes the steps of a Sweep one by one, and
// has a verb store and name, between them, a content that was unnamed before.
func TestWhatIsStoredDuringASweepStays(t *testing.T) {
	l, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := strings.Repeat("again ", 1000)
	body, err := l.putBody([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.beginSweep()
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	named, err := l.namedBodies()
	if err != nil || len(named) != 0 {
		t.Fatal(named, err)
	}
	if _, err := l.Start(StartInput{Input: Input{Scope: "s", Key: "k", Digest: "d"}, ID: turn.NewSessionID(), ClaudeSession: "c",
		Profile: turn.ReadOnly, Subagent: turn.NoSubagent, WorkingDirectory: "/", Prompt: text, LeaseFor: time.Hour, MaxLive: 1}); err != nil {
		t.Fatal(err)
	}
	if gone, err := l.removeBody(body.SHA256); err != nil || gone {
		t.Errorf("it was removed: %t, %v", gone, err)
	}
	l.endSweep()
	if broken, err := l.Check(); err != nil || len(broken) > 0 {
		t.Error(broken, err)
	}
	if n, err := l.Sweep(); err != nil || n != 0 {
		t.Errorf("%d removed: %v", n, err)
	}
}
