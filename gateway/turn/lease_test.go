package turn_test

import (
	"testing"
	"time"

	"deckhand/gateway/turn"
)

func TestTokensOfEarlierEpochsWorkUntilTheLeaseIsUsed(t *testing.T) {
	later := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := turn.Lease{ID: "a", Epoch: 1, TokenFloor: 1, ExpiresAt: later}
	l = l.Use()
	l = l.Rotate("b", later) // its answer is lost
	l = l.Rotate("c", later) // so the first token is used again
	for epoch, want := range map[turn.Epoch]bool{0: false, 1: true, 2: true, 3: true, 4: false} {
		if got := l.AcceptsToken(epoch); got != want {
			t.Errorf("before use: token of epoch %d accepted: %t", epoch, got)
		}
	}
	l = l.Use()
	for epoch, want := range map[turn.Epoch]bool{1: false, 2: false, 3: true, 4: false} {
		if got := l.AcceptsToken(epoch); got != want {
			t.Errorf("after use: token of epoch %d accepted: %t", epoch, got)
		}
	}
}

func TestLeaseEndsAtItsEnd(t *testing.T) {
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := turn.Lease{ExpiresAt: end}
	if l.Expired(end.Add(-time.Nanosecond)) || !l.Expired(end) {
		t.Error("a lease is valid before its end and not from then on")
	}
}

func TestIdsSayWhatTheyNameAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		for _, id := range []string{string(turn.NewSessionID()), string(turn.NewRunID()), string(turn.NewTurnID()),
			string(turn.NewActionID()), string(turn.NewLeaseID()), string(turn.NewReceiptID()), string(turn.NewToolUseID())} {
			if seen[id] {
				t.Fatalf("id %s came twice", id)
			}
			seen[id] = true
		}
	}
}
