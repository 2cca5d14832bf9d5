package shim

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deckhand/gateway/link"
)

// asleep is a wall clock that a sleep of the machine moves on.
type asleep struct{ slept atomic.Int64 }

func (a *asleep) now() time.Time { return time.Now().Add(time.Duration(a.slept.Load())).Round(0) }

func (a *asleep) sleep(d time.Duration) { a.slept.Add(int64(d)) }

// ends runs a keeper until it says why, and returns when by its wall clock.
func ends(k *keeper) (reason string, at time.Time) {
	reason = k.wait(context.Background())
	return reason, k.wall()
}

func TestLeasePassesByWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		reason, at := ends(newKeeper(start.Add(90 * time.Minute)))
		if reason != "lease passed" || at.Sub(start) != 90*time.Minute {
			t.Errorf("%q after %v", reason, at.Sub(start))
		}
	})
}

func TestNewerDirectiveCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		k := newKeeper(start.Add(time.Minute))
		go func() {
			time.Sleep(50 * time.Second)
			k.hear(link.Directive{LeaseExpiresAt: start.Add(10 * time.Minute)})
			time.Sleep(time.Minute)
			k.hear(link.Directive{LeaseExpiresAt: start.Add(5 * time.Minute)}) // a lease may also shrink
		}()
		if reason, at := ends(k); reason != "lease passed" || at.Sub(start) != 5*time.Minute {
			t.Errorf("%q after %v", reason, at.Sub(start))
		}
	})
}

func TestGatewayThatSaysEndIsObeyedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		k := newKeeper(start.Add(time.Hour))
		time.AfterFunc(time.Minute, func() { k.hear(link.Directive{End: true, EndReason: "stopped"}) })
		if reason, at := ends(k); reason != "stopped" || at.Sub(start) != time.Minute {
			t.Errorf("%q after %v", reason, at.Sub(start))
		}
	})
}

func TestLeaseThatPassedInASleepGetsAGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(asleep)
		start := clock.now()
		k := newKeeper(start.Add(time.Hour))
		k.wall = clock.now
		woken := make(chan time.Time, 1)
		go func() {
			time.Sleep(10*time.Minute + time.Second)
			clock.sleep(8 * time.Hour)
			woken <- clock.now()
		}()
		reason, at := ends(k)
		// The sleep is noticed when the next timer fires.
		if since := at.Sub(<-woken); reason != "lease passed" || since < wakeGrace || since > wakeGrace+checkEvery {
			t.Errorf("%q %v after the machine woke", reason, since)
		}
	})
}

func TestLeaseRenewedWithinTheGraceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(asleep)
		k := newKeeper(clock.now().Add(time.Hour))
		k.wall = clock.now
		renewed := make(chan time.Time, 1)
		go func() {
			time.Sleep(10 * time.Minute)
			clock.sleep(8 * time.Hour)
			time.Sleep(time.Minute)
			until := clock.now().Add(2 * time.Hour)
			renewed <- until
			k.hear(link.Directive{LeaseExpiresAt: until})
		}()
		reason, at := ends(k)
		if want := <-renewed; reason != "lease passed" || !at.Equal(want) {
			t.Errorf("%q at %v, want %v", reason, at, want)
		}
	})
}

func TestKeeperEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if reason := newKeeper(time.Now().Add(time.Hour)).wait(ctx); reason != "" {
			t.Errorf("%q", reason)
		}
	})
}
