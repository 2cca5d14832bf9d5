package awake

import (
	"context"
	"log/slog"
)

// Keep follows want until ctx ends or want is closed: while the last value was
// true the machine does not go to sleep by itself.
func Keep(ctx context.Context, want <-chan bool, log *slog.Logger) {
	var release func() error
	let := func() {
		if release == nil {
			return
		}
		if err := release(); err != nil {
			log.Warn("let the computer sleep again", "err", err)
		}
		release = nil
	}
	defer let()
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case on, ok := <-want:
			switch {
			case !ok:
				return
			case !on:
				let()
			case release == nil:
				var err error
				if release, err = hold(ctx); err == nil {
					told = false
				} else if !told {
					told = true
					log.Warn("this computer cannot be kept awake", "err", err)
				}
			}
		}
	}
}
