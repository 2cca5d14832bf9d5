package shim_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"deckhand/gateway/link"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

func TestGatewayEndsTheRun(t *testing.T) {
	r := newRig(t)
	h := r.start()
	r.turn(1)
	r.change(func() { r.directive.End, r.directive.EndReason = true, "stopped by the user" })
	exit := r.ended(h)
	if !exit.Ended || exit.EndReason != "stopped by the user" || exit.Code != 143 && exit.Signal != "SIGTERM" {
		t.Errorf("exit: %+v", exit)
	}
	if left := r.claudePIDs(); len(left) != 0 {
		t.Errorf("Claude Code lives: %v", left)
	}
}

func TestLateShimOfASettledRunEndsWithoutAClaude(t *testing.T) {
	r := newRig(t)
	r.settled = true
	exit := r.ended(r.start())
	if !exit.Ended || exit.EndReason != string(link.RunSettled) || exit.Offers != 0 || exit.Version != "" {
		t.Errorf("exit: %+v", exit)
	}
}

func TestShimWithAWrongTokenEndsWithoutAClaude(t *testing.T) {
	r := newRig(t)
	r.spec.Token = "another"
	exit := r.ended(r.start())
	if !exit.Ended || exit.EndReason != string(link.Unauthorized) || exit.Version != "" {
		t.Errorf("exit: %+v", exit)
	}
}

func TestRunSettledWhileParkedEndsIt(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	first.err = turn.Refuse(link.RunSettled, "")
	close(first.answered)
	if exit := r.ended(h); !exit.Ended || exit.EndReason != string(link.RunSettled) {
		t.Errorf("exit: %+v", exit)
	}
}

func TestRefusedOfferEndsTheRun(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	first.err = turn.Refuse(turn.UnexpectedModelRequest, "")
	close(first.answered)
	exit := r.ended(h)
	if !exit.Ended || exit.EndReason != string(turn.UnexpectedModelRequest) || len(r.kinds()) != 1 {
		t.Errorf("exit: %+v, offers: %s", exit, r.describe())
	}
}

func TestSandboxThatIsMissingFailsTheLaunch(t *testing.T) {
	r := newRig(t, func(cfg *runner.Config) { cfg.Bubblewrap = "/nonexistent/bwrap" })
	exit := r.ended(r.start())
	if exit.LaunchCode != turn.SandboxUnavailable || exit.LaunchError == "" || strings.Contains(exit.LaunchError, r.dir) {
		t.Errorf("exit: %+v", exit)
	}
}

func TestProgramThatIsMissingFailsTheLaunch(t *testing.T) {
	r := newRig(t)
	r.spec.Claude = r.dir + "/nothing"
	exit := r.ended(r.start())
	if exit.LaunchCode != turn.LaunchFailed || exit.LaunchError == "" || strings.Contains(exit.LaunchError, r.dir) {
		t.Errorf("exit: %+v", exit)
	}
}

func TestShimThatIsKilledTakesItsClaudeWithIt(t *testing.T) {
	r := newRig(t)
	h := r.start()
	r.turn(1)
	if len(r.claudePIDs()) != 1 {
		t.Fatal("no Claude Code to begin with")
	}
	h.Kill()
	<-h.Done()
	r.gone()
	if alive, err := r.runner.Alive(r.spec.Run); err != nil || alive {
		t.Errorf("alive: %v %v", alive, err)
	}
	if _, ok, err := r.runner.Exit(r.spec.Run); err != nil || ok {
		t.Errorf("exit record: %v %v", ok, err)
	}
}

func TestShimThatIsToldToEndEndsItsRun(t *testing.T) {
	r := newRig(t)
	h := r.start()
	r.turn(1)
	if err := syscall.Kill(r.shimPID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if exit := r.ended(h); !exit.Ended {
		t.Errorf("exit: %+v", exit)
	}
}

func TestUnknownToolIsAnErrorResultAndTheRunGoesOn(t *testing.T) {
	r := newRig(t)
	h := r.start()
	call := read("/a")
	call.Name = "Nope"
	ids := r.reply(r.turn(1), "", call)
	second := r.turn(2)
	if second.offer.Tail != link.TailResults || len(second.offer.ToolUseIDs) != 1 || second.offer.ToolUseIDs[0] != ids[0] {
		t.Fatalf("second offer: %+v", second.offer)
	}
	if len(r.calls) != 0 {
		t.Errorf("calls: %v", r.calls)
	}
	r.reply(second, "Done.")
	if exit := r.ended(h); !isSuccess(exit) {
		t.Errorf("exit: %+v", exit)
	}
}

// sevens is a result of n characters.
func sevens(n int) func(context.Context, link.Call) (link.CallResult, error) {
	return func(_ context.Context, c link.Call) (link.CallResult, error) {
		return link.CallResult{Text: string(c.ToolUseID) + strings.Repeat("7", n-len(c.ToolUseID))}, nil
	}
}

func TestResultsArePassedWhole(t *testing.T) {
	for _, size := range []int{turn.MaxClaudeResult, 65_000} {
		r := newRig(t)
		r.tool = sevens(size)
		h := r.start()
		var calls []link.ToolUse
		for range 10 {
			calls = append(calls, read("/a"))
		}
		ids := r.reply(r.turn(1), "Ten.", calls...)
		r.reply(r.turn(2), "Done.")
		if exit := r.ended(h); !isSuccess(exit) {
			t.Errorf("%d: exit: %+v", size, exit)
		}
		transcript := r.transcript()
		for _, id := range ids {
			result, _ := sevens(size)(nil, link.Call{ToolUseID: id})
			if !strings.Contains(transcript, `"`+result.Text+`"`) {
				t.Errorf("%d: result of %s is not whole", size, id)
			}
		}
	}
}

// Without the settings that widen its window, Claude Code wants to compact
// after eight large results: a model request that is no turn.
func TestCompactionNeverBecomesATurn(t *testing.T) {
	r := newRig(t, func(cfg *runner.Config) {
		cfg.ExtraEnv = []string{"CLAUDE_CODE_MAX_CONTEXT_TOKENS=", "DISABLE_COMPACT="}
	})
	r.tool = sevens(65_000)
	h := r.start()
	// It counts what came since the last reported usage, and compacts only
	// what has several rounds.
	for n, count := range []int{1, 1, 1, 8} {
		var calls []link.ToolUse
		for range count {
			calls = append(calls, read("/a"))
		}
		r.reply(r.turn(n+1), "More.", calls...)
	}
	exit := r.ended(h)
	if !exit.Ended || exit.EndReason != string(turn.UnexpectedModelRequest) || exit.Code != 1 {
		t.Errorf("exit: %+v", exit)
	}
	kinds := r.kinds()
	if kinds[len(kinds)-1] != link.TailOther {
		t.Errorf("offers: %s", r.describe())
	}
	for _, o := range r.offers {
		if strings.Contains(o.offer.Summary, "777") || strings.Contains(o.offer.Summary, "CRITICAL") {
			t.Errorf("summary holds contents: %s", o.offer.Summary)
		}
	}
}

func TestClaudeSeesNothingOfTheRunDirectoryButItsOwn(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	pid := r.claudePIDs()
	if len(pid) != 1 {
		t.Fatal("no Claude Code")
	}
	root := "/proc/" + itoa(pid[0]) + "/root"
	dir := string(r.runner.Dir(r.spec.Run))
	for _, name := range []string{"lock", "shim.log", "plan.json"} {
		if _, err := os.Lstat(root + dir + "/" + name); err == nil {
			t.Errorf("Claude Code can see %s", name)
		}
	}
	if _, err := os.Lstat(root + r.socket); err == nil {
		t.Error("Claude Code can see the gateway's socket")
	}
	if _, err := os.Lstat(root + dir + "/mcp.json"); err != nil {
		t.Errorf("the look through /proc does not work: %v", err)
	}
	r.reply(first, "Done.")
	r.ended(h)
}
