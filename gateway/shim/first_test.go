package shim

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

func TestClaudeThatAsksNothingIsEnded(t *testing.T) {
	for _, asks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &shim{asked: make(chan struct{}), client: link.NewClient(link.ClientConfig{Socket: "/nonexistent/s"})}
			s.life, s.end = context.WithCancelCause(t.Context())
			defer s.end(nil)
			start := time.Now()
			if asks {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				s.offer(ctx, link.Offer{}) // what becomes of it does not matter
			}
			s.awaitFirst(s.life)
			reason, ended := errors.AsType[endReason](context.Cause(s.life))
			switch {
			case asks && (ended || time.Since(start) != 0):
				t.Errorf("ended although it asked: %v after %v", reason, time.Since(start))
			case !asks && (reason != endReason(turn.NoFirstTurn) || time.Since(start) != firstLimit):
				t.Errorf("%q after %v", reason, time.Since(start))
			}
		})
	}
}
