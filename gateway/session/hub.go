package session

import (
	"sync"

	"deckhand/gateway/turn"
)

// hub wakes whoever waits for a session to change. It holds no state of its
// own: a waiter takes a channel, reads the ledger, and waits on the channel if
// what it read was not enough, so no change between the two is missed.
type hub struct {
	mu      sync.Mutex
	waiting map[turn.SessionID]chan struct{}
	any     chan struct{}
}

func newHub() *hub {
	return &hub{waiting: map[turn.SessionID]chan struct{}{}, any: make(chan struct{})}
}

// changes returns a channel that is closed at the next change of the session.
func (h *hub) changes(id turn.SessionID) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch, ok := h.waiting[id]
	if !ok {
		ch = make(chan struct{})
		h.waiting[id] = ch
	}
	return ch
}

// anyChange returns a channel that is closed at the next change of any session.
func (h *hub) anyChange() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.any
}

// publish wakes the waiters. The ledger calls it after each commit.
func (h *hub) publish(id turn.SessionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ch, ok := h.waiting[id]; ok {
		close(ch)
		delete(h.waiting, id)
	}
	close(h.any)
	h.any = make(chan struct{})
}
