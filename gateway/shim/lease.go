package shim

import (
	"context"
	"sync"
	"time"

	"deckhand/gateway/link"
)

// wakeGrace is how long after a sleep of the machine an expired lease is still
// honoured: the gateway slept too and may be about to renew it.
const wakeGrace = 2 * time.Minute

// checkEvery bounds how long the keeper sleeps at a stretch: timers stop with
// the machine, and a sleep is noticed when the next one fires.
const checkEvery = 30 * time.Second

// sleepSlack is how far wall time and running time may drift apart between two
// looks before that counts as a sleep.
const sleepSlack = 10 * time.Second

// keeper knows the directive that the gateway gave last, and tells when the
// run's time is over.
type keeper struct {
	// wall returns the wall time without a monotonic reading.
	wall func() time.Time

	mu      sync.Mutex
	latest  link.Directive // guarded by mu
	changed chan struct{}  // guarded by mu; closed and replaced when latest changes
}

func newKeeper(expires time.Time) *keeper {
	return &keeper{
		wall:    func() time.Time { return time.Now().Round(0) },
		latest:  link.Directive{LeaseExpiresAt: expires},
		changed: make(chan struct{}),
	}
}

// hear takes a directive of the gateway.
func (k *keeper) hear(d link.Directive) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.latest = d
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *keeper) look() (link.Directive, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest, k.changed
}

// wait returns why the run must end: the gateway said so, or the lease passed.
// It returns "" if ctx ends first.
func (k *keeper) wait(ctx context.Context) (reason string) {
	var graceUntil time.Time
	seen, running := k.wall(), time.Now()
	for {
		d, changed := k.look()
		if d.End {
			if d.EndReason == "" {
				return "ended by the gateway"
			}
			return d.EndReason
		}
		now := k.wall()
		if slept := now.Sub(seen) - time.Since(running); slept > sleepSlack {
			graceUntil = now.Add(wakeGrace)
		}
		seen, running = now, time.Now()
		end := d.LeaseExpiresAt
		if end.Before(graceUntil) {
			end = graceUntil
		}
		if !now.Before(end) {
			return "lease passed"
		}
		timer := time.NewTimer(min(end.Sub(now), checkEvery))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ""
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}
