package shim_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/runner"
)

func TestGatewayGoesAwayInAParkedTurn(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	for n := range 2 {
		r.down()
		time.Sleep(1500 * time.Millisecond)
		r.up()
		r.until("the offer again", func() bool { return first.asked == n+2 })
	}
	r.reply(first, "Done.")
	exit := r.ended(h)
	if !isSuccess(exit) || exit.Offers != 1 {
		t.Errorf("exit: %+v", exit)
	}
	if len(r.kinds()) != 1 {
		t.Errorf("offers: %s", r.describe())
	}
	if r.hellos < 3 {
		t.Errorf("the shim said hello %d times to 3 gateways", r.hellos)
	}
	if strings.Contains(r.claudeOutput(), "api_retry") {
		t.Error("Claude Code noticed")
	}
}

func TestGatewayGoesAwayInAToolCall(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	var once sync.Once
	r.tool = func(ctx context.Context, c link.Call) (link.CallResult, error) {
		select {
		case <-release:
			return link.CallResult{Text: "the durable result"}, nil
		case <-ctx.Done():
			return link.CallResult{}, context.Cause(ctx)
		}
	}
	defer once.Do(func() { close(release) })
	h := r.start()
	ids := r.reply(r.turn(1), "Wait.", read("/slow"))
	r.until("the call", func() bool { return r.calls[ids[0]] == 1 })
	r.down()
	time.Sleep(2 * time.Second)
	r.up()
	r.until("the call again", func() bool { return r.calls[ids[0]] == 2 })
	once.Do(func() { close(release) })
	r.reply(r.turn(2), "Done.")
	if exit := r.ended(h); !isSuccess(exit) || exit.Offers != 2 {
		t.Errorf("exit: %+v", exit)
	}
	if got := r.transcript(); !strings.Contains(got, "the durable result") || strings.Contains(got, `"is_error":true`) {
		t.Error("Claude Code did not get the plain result")
	}
}

func TestLeasePassesWithoutAGateway(t *testing.T) {
	r := newRig(t)
	h := r.start()
	r.turn(1)
	r.lease(time.Now().Add(2 * time.Second).Round(0))
	r.down()
	exit := r.ended(h)
	if !exit.Ended || exit.EndReason != "lease passed" || exit.FinishedAt.Before(r.directive.LeaseExpiresAt) {
		t.Errorf("exit: %+v", exit)
	}
	if left := r.claudePIDs(); len(left) != 0 {
		t.Errorf("Claude Code lives: %v", left)
	}
}

func TestRenewedLeaseKeepsTheRunAlive(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	soon := time.Now().Add(5 * time.Second).Round(0)
	r.lease(soon)
	r.lease(soon.Add(time.Hour))
	time.Sleep(time.Until(soon.Add(time.Second)))
	r.reply(first, "Done.")
	if exit := r.ended(h); !isSuccess(exit) {
		t.Errorf("exit: %+v", exit)
	}
}

// Without the settings for long waits, and with a limit of 10 s on silence,
// Claude Code drops the parked request after 10 s and asks again without
// "stream", which it drops after 12 s, and so on.
func TestDroppedRequestAndItsFallbackAreOneTurn(t *testing.T) {
	r := newRig(t, func(cfg *runner.Config) {
		cfg.ShortWaits = true
		cfg.ExtraEnv = []string{"CLAUDE_STREAM_IDLE_TIMEOUT_MS=3000", "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS=10000", "API_TIMEOUT_MS=12000"}
	})
	h := r.start()
	first := r.turn(1)
	r.repeated(2, "stream=false")
	ids := r.reply(first, "One file.", read("/a"))
	second := r.turn(2)
	if len(second.offer.ToolUseIDs) != 1 || second.offer.ToolUseIDs[0] != ids[0] {
		t.Fatalf("second offer: %+v", second.offer)
	}
	r.reply(second, "Done.")
	exit := r.ended(h)
	if !isSuccess(exit) || exit.Offers != 2 || len(r.kinds()) != 2 {
		t.Errorf("exit: %+v, offers: %s", exit, r.describe())
	}
}

// repeated waits until the shim has seen n repeats of a model request.
func (r *rig) repeated(n int, how string) {
	r.t.Helper()
	for range 6000 {
		log, err := os.ReadFile(r.runner.Dir(r.spec.Run).ShimLog())
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Count(string(log), `msg="model request repeated" run=`+string(r.spec.Run)+" "+how) >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("Claude Code did not repeat its request with %s", how)
}
