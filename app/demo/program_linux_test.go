package demo_test

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deckhand/app/demo/process"
	"deckhand/tests/rig"
)

// TestAKilledDemoTakesItsGatewayAlong: the rest of it cannot be helped.
func TestAKilledDemoTakesItsGatewayAlong(t *testing.T) {
	t.Parallel()
	cmd, temp := program(t)
	withClaude(t, cmd)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.Contains(lines.Text(), "listens on") {
	}
	if !running(t, temp) {
		t.Error("no gateway ran")
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	rig.Await(t, "the gateway's end", func() bool {
		return !slices.ContainsFunc(naming(t, temp), func(p process.Process) bool { return strings.Contains(p.Args, " serve ") })
	})
	for _, p := range naming(t, temp) { // a run that had begun
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	rig.Await(t, "the end of the rest", func() bool { return !running(t, temp) })
}
