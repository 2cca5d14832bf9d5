package process

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestAChildIsSeenUntilItHasEnded starts this test binary's sleep and looks.
func TestAChildIsSeenUntilItHasEnded(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat", "--", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := find(t, cmd.Process.Pid)
	if seen == nil || seen.Name != "cat" || seen.Args != "cat -- -" || seen.Ended {
		t.Fatalf("the child looks like %+v", seen)
	}
	if again := find(t, cmd.Process.Pid); again == nil || again.Started != seen.Started {
		t.Errorf("the second look says %+v, the first %+v", again, seen)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if gone := find(t, cmd.Process.Pid); gone != nil {
		t.Errorf("the child has ended and is still below: %+v", gone)
	}
}

func find(t *testing.T, pid int) *Process {
	t.Helper()
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Below(all, os.Getpid()) {
		if p.PID == pid {
			return &p
		}
	}
	return nil
}

func TestNamingTakesDescendantsAlong(t *testing.T) {
	all := []Process{
		{PID: 9, Parent: 7, Args: "claude"},
		{PID: 5, Parent: 1, Args: "deckhand serve --state-dir /tmp/a"},
		{PID: 7, Parent: 6, Args: "bwrap"},
		{PID: 6, Parent: 1, Args: "deckhand shim /tmp/a/run"},
		{PID: 8, Parent: 1, Args: "deckhand serve --state-dir /tmp/b"},
	}
	var pids []int
	for _, p := range Naming(all, "/tmp/a") {
		pids = append(pids, p.PID)
	}
	if len(pids) != 4 || pids[0] != 5 || pids[1] != 6 || pids[2] != 7 || pids[3] != 9 {
		t.Errorf("found %v, want 5, 6, 7 and 9", pids)
	}
	if below := Below(all, 6); len(below) != 2 {
		t.Errorf("below 6 are %v, want 7 and 9", below)
	}
}
