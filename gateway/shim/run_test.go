package shim_test

import (
	"slices"
	"testing"

	"deckhand/gateway/link"
	"deckhand/gateway/runner"
)

func TestRunFromPromptOverParallelCallsToItsResult(t *testing.T) {
	r := newRig(t)
	h := r.start()
	first := r.turn(1)
	if first.offer.Tail != link.TailPrompt {
		t.Fatalf("first offer: %+v", first.offer)
	}
	ids := r.reply(first, "Two files.", read("/a"), read("/b"))
	second := r.turn(2)
	if second.offer.Tail != link.TailResults || !slices.Equal(second.offer.ToolUseIDs, ids) {
		t.Fatalf("second offer: %+v, want results for %v", second.offer, ids)
	}
	r.reply(second, "Done.")
	exit := r.ended(h)
	if !isSuccess(exit) || exit.Offers != 2 || exit.Version != runner.Pinned {
		t.Errorf("exit: %+v", exit)
	}
	if told := r.waitExit(); told.FinishedAt != exit.FinishedAt {
		t.Errorf("the gateway was told %+v, the record says %+v", told, exit)
	}
}
