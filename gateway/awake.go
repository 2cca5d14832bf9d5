package gateway

import (
	"context"

	"deckhand/gateway/awake"
)

// stayAwake keeps the machine awake while a run is live and the switch is on,
// until ctx ends.
func (g *Gateway) stayAwake(ctx context.Context) {
	want, kept := make(chan bool), make(chan struct{})
	go func() {
		defer close(kept)
		awake.Keep(ctx, want, g.cfg.Log)
	}()
	defer func() {
		close(want)
		<-kept
	}()
	for was := false; ctx.Err() == nil; {
		last, on, err := g.wanted(ctx)
		if err != nil {
			g.cfg.Log.Error("look whether to stay awake", "err", err)
			return
		}
		if on != was {
			select {
			case want <- on:
				was = on
			case <-ctx.Done():
				return
			}
		}
		if err := g.engine.WaitEvents(ctx, last); err != nil {
			return // the engine ends
		}
	}
}

// wanted says whether the machine is to stay awake, as of an event.
func (g *Gateway) wanted(ctx context.Context) (asOf uint64, on bool, err error) {
	if asOf, err = g.engine.LastEvent(); err != nil {
		return 0, false, err
	}
	switches, err := g.engine.Switches(ctx)
	if err != nil || !switches.KeepAwake {
		return asOf, false, err
	}
	live, err := g.engine.Live()
	return asOf, live > 0, err
}
