package turn_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The two tables are written out in full, so that a change of either is seen
// for what it is. The golden file is the diagram that ARCHITECTURE.md shows.
func TestTablesEqualTheGoldenDiagram(t *testing.T) {
	var b strings.Builder
	b.WriteString("status              verb → status\n")
	for _, from := range turn.Statuses() {
		var moves []string
		for _, verb := range turn.Verbs() {
			if to, err := turn.Next(from, verb); err == nil {
				moves = append(moves, fmt.Sprintf("%s → %s", verb, to))
			}
		}
		fmt.Fprintf(&b, "%-19s %s\n", from, strings.Join(moves, ", "))
	}
	fmt.Fprintf(&b, "\n%-19s", "status")
	for _, call := range turn.Calls() {
		fmt.Fprintf(&b, " %-18s", call)
	}
	b.WriteString("\n")
	for _, status := range turn.Statuses() {
		fmt.Fprintf(&b, "%-19s", status)
		for _, call := range turn.Calls() {
			code := turn.Permit(status, call, false)
			if code == "" {
				code = "ok"
			}
			fmt.Fprintf(&b, " %-18s", code)
		}
		b.WriteString("\n")
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n")
	golden := filepath.Join("testdata", "tables.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the tables changed; got:\n%s", got)
	}
}

func TestEveryPairOutsideTheTableIsRefused(t *testing.T) {
	pairs := 0
	for _, from := range turn.Statuses() {
		for _, verb := range turn.Verbs() {
			to, err := turn.Next(from, verb)
			if err == nil {
				pairs++
				continue
			}
			refused, ok := errors.AsType[*turn.TransitionError](err)
			if !ok || refused.From != from || refused.Verb != verb || to != "" {
				t.Errorf("Next(%s, %s) = %q, %v", from, verb, to, err)
			}
		}
	}
	if pairs == 0 {
		t.Error("the table is empty")
	}
}

// A call that Permit allows has to be possible by the transition table, or a
// holder would be told yes and then meet a fault.
func TestPermittedCallsCanHappen(t *testing.T) {
	verbs := map[turn.Call][]turn.Verb{
		turn.CallContinue: {turn.Continue},
		turn.CallReply:    {turn.Answer, turn.Conclude},
		turn.CallStop:     {turn.Stop},
		turn.CallRecover:  {turn.Recover},
	}
	for _, status := range turn.Statuses() {
		for _, call := range turn.Calls() {
			if turn.Permit(status, call, false) != "" {
				continue
			}
			for _, verb := range verbs[call] {
				if _, err := turn.Next(status, verb); err != nil {
					t.Errorf("%s is permitted when %s, but: %v", call, status, err)
				}
			}
		}
	}
}

func TestDeniedSessionIsNotRecovered(t *testing.T) {
	if got := turn.Permit(turn.Stopped, turn.CallRecover, true); got != turn.ApprovalDenied {
		t.Errorf("recover of a denied session: %q", got)
	}
	if got := turn.Permit(turn.Idle, turn.CallRecover, true); got != "" {
		t.Errorf("denied matters only when stopped, got %q", got)
	}
}

func TestEveryStatusCanBeLeftAndReached(t *testing.T) {
	reached := map[turn.Status]bool{turn.Starting: true, turn.AwaitingApproval: true} // by Start
	for _, from := range turn.Statuses() {
		left := false
		for _, verb := range turn.Verbs() {
			if to, err := turn.Next(from, verb); err == nil {
				left = left || to != from
				reached[to] = true
			}
		}
		if !left {
			t.Errorf("%s is never left", from)
		}
	}
	for _, s := range turn.Statuses() {
		if !reached[s] {
			t.Errorf("%s is never reached", s)
		}
	}
}
