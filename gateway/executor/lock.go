package executor

import (
	"context"
	"sync"

	"deckhand/gateway/protected"
)

// pathLocks lets one write at a time at a file, over all sessions. Its zero
// value is ready.
type pathLocks struct {
	mu   sync.Mutex
	held map[string]*pathLock // guarded by mu
}

type pathLock struct {
	turn  chan struct{} // holds one token while the lock is free
	users int           // who holds it or waits; guarded by pathLocks.mu
}

// lock waits until nobody else writes at the real path, or until ctx ends. Two
// spellings that some file system takes for one name share a lock.
func (l *pathLocks) lock(ctx context.Context, real string) (unlock func(), err error) {
	key := protected.Fold(real)
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*pathLock{}
	}
	p := l.held[key]
	if p == nil {
		p = &pathLock{turn: make(chan struct{}, 1)}
		p.turn <- struct{}{}
		l.held[key] = p
	}
	p.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if p.users--; p.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-p.turn:
		return func() {
			p.turn <- struct{}{}
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
