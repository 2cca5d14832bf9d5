package tray

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestSpanRoundsDownToTheMinute(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"under 1 min": 59 * time.Second,
		"1 min":       119 * time.Second,
		"59 min":      time.Hour - 1,
		"1 h":         time.Hour,
		"1 h 59 min":  2*time.Hour - 1,
		"2 h":         2*time.Hour + 30*time.Second,
		"1 d":         24 * time.Hour,
		"3 d 4 h":     76*time.Hour + 59*time.Minute,
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
	if got := Span(-time.Hour); got != "under 1 min" {
		t.Errorf("Span of a negative duration = %q", got)
	}
}

func TestDoingHasWordsForEachStatus(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Status: AwaitingApproval}, "waiting for your approval"},
		{Row{Status: AwaitingApproval, AnswerBy: noon.Add(9*time.Minute + 59*time.Second)}, "waiting for your approval, 9 min left"},
		{Row{Status: AwaitingApproval, AnswerBy: noon.Add(time.Second)}, "waiting for your approval, under 1 min left"},
		{Row{Status: AwaitingApproval, AnswerBy: noon}, "waiting for your approval, too late"},
		{Row{Status: Starting}, "starting Claude Code"},
		{Row{Status: Running}, "Claude Code is working"},
		{Row{Status: WaitingForGPT, TurnOpened: noon.Add(-3 * time.Minute)}, "waiting for ChatGPT, 3 min"},
		{Row{Status: WaitingForGPT, TurnOpened: noon.Add(-30 * time.Second)}, "waiting for ChatGPT"},
		{Row{Status: WaitingForGPT, TurnOpened: noon.Add(time.Hour)}, "waiting for ChatGPT"},
		{Row{Status: Executing}, "running a tool"},
		{Row{Status: Executing, Tools: []string{"Read"}}, "running Read"},
		{Row{Status: Executing, Tools: []string{"Read", "FindFiles", "Read"}}, "running Read and 2 more"},
		{Row{Status: Idle}, "ready for the next prompt"},
		{Row{Status: Failed, Code: "claude_exited"}, "failed: Claude Code ended by itself"},
		{Row{Status: Failed, Code: "new_code"}, "failed: new_code"},
		{Row{Status: Failed}, "failed: no reason given"},
		{Row{Status: Stopping}, "stopping"},
		{Row{Status: Stopped}, "stopped"},
		{Row{Status: LeaseExpired}, "lease ended, nobody answered"},
		{Row{Status: RecoveryRequired}, "lost its Claude Code, needs recovery"},
	} {
		if got := Doing(c.row, noon); got != c.want {
			t.Errorf("Doing(%s) = %q, want %q", c.row.Status, got, c.want)
		}
	}
}

func TestLeaseSaysHowLongTheHolderMayAnswer(t *testing.T) {
	for _, c := range []struct {
		status Status
		left   time.Duration
		want   string
	}{
		{WaitingForGPT, 2*time.Hour - time.Second, "lease ends in 1 h 59 min"},
		{WaitingForGPT, 20 * time.Second, "lease ends in under 1 min"},
		{Idle, -5 * time.Minute, "lease ended 5 min ago"},
		{LeaseExpired, -10 * time.Second, "lease ended just now"},
		{Stopped, time.Hour, ""},
		{Stopping, time.Hour, ""},
		{AwaitingApproval, time.Hour, ""},
	} {
		r := Row{Status: c.status, LeaseEnds: noon.Add(c.left)}
		if got := Lease(r, noon); got != c.want {
			t.Errorf("Lease(%s, %v) = %q, want %q", c.status, c.left, got, c.want)
		}
	}
	if got := Lease(Row{Status: Idle}, noon); got != "" {
		t.Errorf("Lease without an end = %q", got)
	}
}

func TestTitleFallsBackToTheFolder(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Label: "shop\ntests", Folder: "/src/x"}, "shop tests"},
		{Row{Label: "\u202e ", Folder: "/src/my_shop"}, "my_shop"},
		{Row{Folder: "/"}, "/"},
		{Row{}, "untitled"},
	} {
		if got := Title(c.row); got != c.want {
			t.Errorf("Title(%+q, %q) = %q, want %q", c.row.Label, c.row.Folder, got, c.want)
		}
	}
}

func TestOnlyAWaitNearItsEndNeedsAPerson(t *testing.T) {
	row := Row{Status: WaitingForGPT, LeaseEnds: noon.Add(LeaseSoon)}
	if NeedsYou(row, noon) {
		t.Error("a lease that lasts long enough needs a person")
	}
	if !NeedsYou(row, noon.Add(time.Second)) {
		t.Error("a lease about to end needs nobody")
	}
}

func TestAnApprovalSaysWhatIsWantedAndHowItWasAnswered(t *testing.T) {
	for profile, want := range map[string]string{
		"read_only":      "to read, starting in /src/a b",
		"direct_write":   "to write in the folder /src/a b",
		"worktree_write": "to write in a worktree of /src/a b",
		"new\u202e":      "new in /src/a b",
	} {
		if got := Wants(profile, "/src/a\n\x1bb"); got != want {
			t.Errorf("Wants(%s) = %q, want %q", profile, got, want)
		}
	}
	for state, want := range map[string]string{
		"pending":  "you are asked, 5 min left",
		"approved": "allowed",
		"denied":   "refused",
		"expired":  "nobody answered in time, so it was refused",
		"new\n":    "new",
	} {
		if got := Approval(state, noon.Add(5*time.Minute), noon); got != want {
			t.Errorf("Approval(%s) = %q, want %q", state, got, want)
		}
	}
}
