package shim_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// fakeGateway is a gateway with a memory and no disk: it answers offers with
// what the test scripts, each digest once, and calls with what tool returns.
// Its server can be taken away and brought back; the memory stays, as the
// ledger of a real one does.
type fakeGateway struct {
	t      *testing.T
	socket string
	run    turn.RunID
	token  string
	tool   func(ctx context.Context, c link.Call) (link.CallResult, error)

	mu        sync.Mutex
	directive link.Directive
	heard     time.Time // the end of the lease that the shim last said it knows
	changed   chan struct{}
	offers    map[string]*offered
	order     []string
	calls     map[turn.ToolUseID]int
	hellos    int
	exit      *link.Exit
	settled   bool
	server    *http.Server
	served    chan struct{}
}

type offered struct {
	offer    link.Offer
	asked    int
	answered chan struct{}
	release  link.Release
	err      error
}

func newFakeGateway(t *testing.T, socket string) *fakeGateway {
	g := &fakeGateway{t: t, socket: socket, run: turn.NewRunID(), token: "run-token-" + string(turn.NewRunID()),
		directive: link.Directive{LeaseExpiresAt: time.Now().Add(time.Hour)}, changed: make(chan struct{}),
		offers: map[string]*offered{}, calls: map[turn.ToolUseID]int{}}
	g.tool = func(_ context.Context, c link.Call) (link.CallResult, error) {
		return link.CallResult{Text: fmt.Sprintf("%s %s", c.Name, c.Arguments)}, nil
	}
	g.up()
	t.Cleanup(g.down)
	return g
}

// up starts a server on the socket; down takes it away with all connections.
func (g *fakeGateway) up() {
	g.t.Helper()
	l, err := link.Listen(g.socket)
	if err != nil {
		g.t.Fatal(err)
	}
	server := &http.Server{Handler: link.Handler(g, slog.New(slog.DiscardHandler))}
	served := make(chan struct{})
	go func(l net.Listener) { defer close(served); server.Serve(l) }(l)
	g.server, g.served = server, served
}

func (g *fakeGateway) down() {
	if g.server == nil {
		return
	}
	g.server.Close()
	<-g.served
	g.server = nil
}

func (g *fakeGateway) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	close(g.changed)
	g.changed = make(chan struct{})
}

// lease sets the end of the lease and waits until the shim knows it.
func (g *fakeGateway) lease(end time.Time) {
	g.t.Helper()
	g.change(func() { g.directive.LeaseExpiresAt = end })
	g.until("the shim to know its lease", func() bool { return g.heard.Equal(end) })
}

// until waits until the condition holds and fails the test if it never does.
func (g *fakeGateway) until(what string, condition func() bool) {
	g.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		g.mu.Lock()
		ok, changed := condition(), g.changed
		g.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			g.t.Fatalf("waited for %s in vain; offers: %s", what, g.describe())
		}
	}
}

func (g *fakeGateway) describe() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := ""
	for _, d := range g.order {
		o := g.offers[d].offer
		s += fmt.Sprintf("[%s %v %s] ", o.Tail, o.ToolUseIDs, o.Summary)
	}
	if g.exit != nil {
		s += fmt.Sprintf("exit %+v", *g.exit)
	}
	return s
}

// turn waits for the n-th distinct offer, from 1.
func (g *fakeGateway) turn(n int) *offered {
	g.t.Helper()
	g.until(fmt.Sprintf("turn %d", n), func() bool { return len(g.order) >= n || g.exit != nil })
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.order) < n {
		g.mu.Unlock()
		d := g.describe()
		g.mu.Lock()
		g.t.Fatalf("the run ended before turn %d: %s", n, d)
	}
	return g.offers[g.order[n-1]]
}

// reply answers a turn with calls, whose ids it returns, or with text alone.
func (g *fakeGateway) reply(o *offered, text string, calls ...link.ToolUse) []turn.ToolUseID {
	var ids []turn.ToolUseID
	for i := range calls {
		calls[i].ID = turn.NewToolUseID()
		ids = append(ids, calls[i].ID)
	}
	o.release = link.Release{Turn: turn.NewTurnID(), Text: text, Calls: calls}
	close(o.answered)
	return ids
}

func (g *fakeGateway) waitExit() link.Exit {
	g.t.Helper()
	g.until("the exit", func() bool { return g.exit != nil })
	return *g.exit
}

func (g *fakeGateway) Authenticate(run turn.RunID, token string) error {
	if run != g.run || token != g.token {
		return turn.Refuse(link.Unauthorized, "")
	}
	return nil
}

func (g *fakeGateway) Hello(context.Context, link.Hello) (link.Directive, error) {
	if g.settled {
		return link.Directive{}, turn.Refuse(link.RunSettled, "")
	}
	g.change(func() { g.hellos++ })
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.directive, nil
}

func (g *fakeGateway) Watch(ctx context.Context, w link.Watch) (link.Directive, error) {
	g.change(func() { g.heard = w.Seen.LeaseExpiresAt })
	for {
		g.mu.Lock()
		d, changed := g.directive, g.changed
		g.mu.Unlock()
		if d.End != w.Seen.End || !d.LeaseExpiresAt.Equal(w.Seen.LeaseExpiresAt) {
			return d, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return d, context.Cause(ctx)
		}
	}
}

func (g *fakeGateway) Offer(ctx context.Context, o link.Offer) (link.Release, error) {
	var entry *offered
	g.change(func() {
		if entry = g.offers[o.Digest]; entry == nil {
			entry = &offered{offer: o, answered: make(chan struct{})}
			if o.Tail == link.TailOther {
				entry.err = turn.Refuse(turn.UnexpectedModelRequest, "")
				close(entry.answered)
			}
			g.offers[o.Digest] = entry
			g.order = append(g.order, o.Digest)
		}
		entry.asked++
	})
	select {
	case <-entry.answered:
		return entry.release, entry.err
	case <-ctx.Done():
		return link.Release{}, context.Cause(ctx)
	}
}

func (g *fakeGateway) Call(ctx context.Context, c link.Call) (link.CallResult, error) {
	g.change(func() { g.calls[c.ToolUseID]++ })
	return g.tool(ctx, c)
}

func (g *fakeGateway) Exit(_ context.Context, e link.Exit) error {
	g.change(func() { g.exit = &e })
	return nil
}

// kinds lists the tails of the distinct offers.
func (g *fakeGateway) kinds() []link.TailKind {
	g.mu.Lock()
	defer g.mu.Unlock()
	var kinds []link.TailKind
	for _, d := range g.order {
		kinds = append(kinds, g.offers[d].offer.Tail)
	}
	return slices.Clone(kinds)
}
