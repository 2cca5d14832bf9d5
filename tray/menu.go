package tray

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Pace of what is drawn. Panels read the whole menu again after each change,
// and some spin when the icon changes often.
const (
	// together is how long after a drawing the next one waits for more changes.
	together = 250 * time.Millisecond
	// barRest is how long after a change of the icon the next one waits.
	barRest = 5 * time.Second
	// settled is how long a place has to have its command before a click on it
	// counts: who aims at a row does not hit what has just come in its place.
	settled = 700 * time.Millisecond
)

// Menu keeps a port's menu as the newest Model says.
//
// One goroutine draws. It changes places only where what they show differs, and
// sleeps until there is a new Model or a shown text is not true any more.
type Menu struct {
	port Port
	do   func(context.Context, Command)
	log  *slog.Logger

	keys  []Key         // every place in the order of the layout
	fresh chan struct{} // holds a token while there is a model that was not drawn

	mu    sync.Mutex
	model Model              // the newest; guarded by mu
	shown map[Key]State      // what was drawn; guarded by mu
	since map[Key]time.Time  // when a place got its command; guarded by mu
	work  sync.WaitGroup     // commands under way
	ctx   context.Context    // of Run; set before the first click
	end   context.CancelFunc // ends ctx
}

// NewMenu returns a menu that draws on port. do carries a command out; it is
// called in a goroutine of its own, and its context ends with the menu.
func NewMenu(port Port, do func(context.Context, Command), log *slog.Logger) *Menu {
	return &Menu{port: port, do: do, log: log, keys: keysOf(Layout()), fresh: make(chan struct{}, 1),
		shown: map[Key]State{}, since: map[Key]time.Time{}}
}

// keysOf returns the keys of entries and of what is below them.
func keysOf(entries []Entry) []Key {
	var keys []Key
	for _, e := range entries {
		if e.Key != "" {
			keys = append(keys, e.Key)
		}
		keys = append(keys, keysOf(e.Children)...)
	}
	return keys
}

// Show makes m what the menu is about. It never waits; of several in a row the
// last is drawn. m.Now is set when it is drawn.
func (m *Menu) Show(model Model) {
	m.mu.Lock()
	m.model = model
	m.mu.Unlock()
	select {
	case m.fresh <- struct{}{}:
	default:
	}
}

// Run shows the menu until ctx ends or the platform ends the program; exit is
// called before it returns, and when the platform does not let it return. It
// has to be called on the main thread. Commands under way have ended when it
// returns.
func (m *Menu) Run(ctx context.Context, exit func()) {
	m.ctx, m.end = context.WithCancel(ctx)
	defer m.end()
	drawn := make(chan struct{})
	stop := context.AfterFunc(m.ctx, m.port.Quit)
	defer stop()
	started := false
	m.port.Run(func() {
		started = true
		m.port.Build(Layout(), m.clicked)
		go func() {
			defer close(drawn)
			m.draw(m.ctx)
		}()
	}, func() {
		m.end()
		exit()
	})
	m.end()
	if started {
		<-drawn
	}
	m.work.Wait()
}

// draw is the goroutine that draws.
func (m *Menu) draw(ctx context.Context) {
	var board Board
	var bar Bar
	var barAt time.Time
	first := true
	again := time.NewTimer(time.Hour)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.fresh:
		case <-again.C:
		}
		// The wall clock: it goes on while the machine sleeps.
		now := time.Now().Round(0)
		m.mu.Lock()
		model := m.model
		m.mu.Unlock()
		model.Now = now
		view := board.View(model)
		m.place(view, now)
		due := view.Next
		if first || view.Bar != bar {
			rested := barAt.Add(barRest)
			if first || !now.Before(rested) {
				m.port.Bar(view.Bar)
				bar, barAt, first = view.Bar, now, false
			} else if due.IsZero() || rested.Before(due) {
				due = rested
			}
		}
		again.Stop()
		if !due.IsZero() {
			again.Reset(due.Sub(now))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(together):
		}
	}
}

// place draws every place that differs from what is shown.
func (m *Menu) place(view View, now time.Time) {
	for _, key := range m.keys {
		is := view.Places[key]
		was, drawn := m.shown[key]
		if drawn && was == is {
			continue
		}
		if !drawn {
			was = State{Hidden: true}
		}
		// What a click means changes before what is seen does, so that a click
		// never means what is not shown any more.
		m.mu.Lock()
		m.shown[key] = is
		if was.Command != is.Command {
			m.since[key] = now
		}
		m.mu.Unlock()
		m.port.Place(key, was, is)
	}
}

// clicked carries out what a place shows.
func (m *Menu) clicked(key Key) {
	m.mu.Lock()
	state, since := m.shown[key], m.since[key]
	m.mu.Unlock()
	if state.Command == nil || state.Hidden || m.ctx.Err() != nil {
		return
	}
	if age := time.Now().Round(0).Sub(since); age >= 0 && age < settled {
		m.log.Info("a click on an entry that had just changed is not counted", "entry", key)
		return
	}
	m.work.Go(func() { m.do(m.ctx, state.Command) })
}
