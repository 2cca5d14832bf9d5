package tray

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen is a Port that remembers what is drawn on it.
type screen struct {
	mu      sync.Mutex
	places  map[Key]State
	bar     Bar
	calls   int
	bars    int
	clicked func(Key)
	quit    chan struct{}
	once    sync.Once
}

func newScreen() *screen { return &screen{places: map[Key]State{}, quit: make(chan struct{})} }

func (s *screen) Run(ready, exit func()) {
	ready()
	<-s.quit
	exit()
}

func (s *screen) Quit() { s.once.Do(func() { close(s.quit) }) }

func (s *screen) Build(entries []Entry, clicked func(Key)) {
	s.clicked = clicked
	for _, key := range keysOf(entries) {
		s.places[key] = State{Hidden: true}
	}
}

func (s *screen) Place(key Key, was, is State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.places[key] != was {
		panic(fmt.Sprintf("%s shows %+v, not %+v", key, s.places[key], was))
	}
	s.places[key] = is
}

func (s *screen) Bar(b Bar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bars++
	s.bar = b
}

func (s *screen) counts() (calls, bars int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.bars
}

// title returns what a place shows.
func (s *screen) title(key Key) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places[key].Title
}

// count returns the number on the icon.
func (s *screen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bar.Count
}

// key returns the place that shows an action with this command.
func (s *screen) key(t *testing.T, c Command) Key {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, is := range s.places {
		if is.Command == c {
			return key
		}
	}
	t.Fatalf("nothing offers %+v", c)
	return ""
}

// onScreen runs a menu in a bubble of its own time.
func onScreen(t *testing.T, do func(context.Context, Command), test func(*Menu, *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen()
		m := NewMenu(s, do, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		exits := 0
		go func() {
			defer close(ended)
			m.Run(ctx, func() { exits++ })
		}()
		synctest.Wait()
		test(m, s)
		cancel()
		<-ended
		if exits != 1 {
			t.Errorf("exit was called %d times", exits)
		}
	})
}

func at(rows ...Row) Model { return Model{Gateway: running(), Rows: rows} }

func TestTheMenuIsChangedOnlyWhereItDiffers(t *testing.T) {
	onScreen(t, nil, func(m *Menu, s *screen) {
		if calls, bars := s.counts(); calls+bars != 0 {
			t.Errorf("%d calls before anything is known", calls+bars)
		}
		g := Gateway{Running: true}
		model := Model{Gateway: g, Rows: []Row{{ID: "a", Label: "a", Status: Running}}}
		m.Show(model)
		time.Sleep(time.Second)
		calls, bars := s.counts()
		if calls == 0 || bars != 1 {
			t.Fatalf("%d calls, %d icons for the first model", calls, bars)
		}
		// Nothing shown changes, however often it is said.
		for range 600 {
			m.Show(model)
			time.Sleep(100 * time.Millisecond)
		}
		if c, b := s.counts(); c != calls || b != bars {
			t.Errorf("%d calls and %d icons more for the same", c-calls, b-bars)
		}
		model.Rows = []Row{{ID: "a", Label: "a", Status: Executing, Tools: []string{"Read"}}}
		m.Show(model)
		time.Sleep(time.Second)
		if c, _ := s.counts(); c != calls+1 {
			t.Errorf("%d calls for one changed title", c-calls)
		}
	})
}

func TestABurstIsDrawnTogether(t *testing.T) {
	onScreen(t, nil, func(m *Menu, s *screen) {
		m.Show(at())
		time.Sleep(time.Second)
		before, _ := s.counts()
		for i := range 100 {
			m.Show(at(Row{ID: "a", Label: fmt.Sprint("label ", i), Status: Running}))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		after, _ := s.counts()
		if got := s.title(rowKey(keySessions, 0)); got != "● label 99 ·  · Claude Code is working" {
			t.Errorf("the last is not shown: %q", got)
		}
		// One row appears with its parts, then only its title changes, four
		// times a second.
		if n := after - before; n > len(rowParts)+3+6 {
			t.Errorf("%d calls for a hundred changes in a second", n)
		}
	})
}

func TestTheIconChangesAtMostEveryFiveSeconds(t *testing.T) {
	onScreen(t, nil, func(m *Menu, s *screen) {
		asks := Row{ID: "a", Label: "a", Status: AwaitingApproval}
		for i := range 60 {
			if i%2 == 0 {
				m.Show(at(asks))
			} else {
				m.Show(at())
			}
			time.Sleep(500 * time.Millisecond)
		}
		if _, bars := s.counts(); bars > 7 {
			t.Errorf("%d icons in 30 s", bars)
		}
		m.Show(at(asks))
		time.Sleep(6 * time.Second)
		if n := s.count(); n != 1 {
			t.Errorf("the icon shows %d in the end", n)
		}
	})
}

func TestTheCountdownMovesByItself(t *testing.T) {
	onScreen(t, nil, func(m *Menu, s *screen) {
		m.Show(Model{Gateway: Gateway{Running: true}, Rows: []Row{{ID: "a", Label: "a", Status: Running, LeaseEnds: time.Now().Add(30*time.Minute + 30*time.Second)}}})
		time.Sleep(time.Second)
		var seen []string
		before, _ := s.counts()
		for range 5 {
			seen = append(seen, s.title(rowKey(keySessions, 0))[len("● a ·  · Claude Code is working · "):])
			time.Sleep(time.Minute)
		}
		want := []string{"lease ends in 30 min", "lease ends in 29 min", "lease ends in 28 min", "lease ends in 27 min", "lease ends in 26 min"}
		if !slices.Equal(seen, want) {
			t.Errorf("%q", seen)
		}
		if after, _ := s.counts(); after-before != 5 {
			t.Errorf("%d calls in 5 minutes", after-before)
		}
	})
}

func TestAClickDoesWhatItsPlaceShows(t *testing.T) {
	var mu sync.Mutex
	var done []Command
	do := func(_ context.Context, c Command) {
		mu.Lock()
		defer mu.Unlock()
		done = append(done, c)
	}
	onScreen(t, do, func(m *Menu, s *screen) {
		m.Show(at(Row{ID: "a", Label: "a", Status: AwaitingApproval, Generation: 1}))
		synctest.Wait()
		approve := s.key(t, Approve{"a", 1})
		s.clicked(approve) // too soon after it appeared
		time.Sleep(time.Second)
		s.clicked(approve)
		synctest.Wait()
		m.Show(at(Row{ID: "a", Label: "a", Status: AwaitingApproval, Generation: 2}))
		time.Sleep(300 * time.Millisecond)
		s.clicked(approve) // another request now: too soon
		m.Show(at())
		time.Sleep(time.Second)
		s.clicked(approve) // nothing there any more
		s.clicked(keyGateway)
		synctest.Wait()
		if want := []Command{Approve{"a", 1}}; !slices.Equal(done, want) {
			t.Errorf("done: %+v", done)
		}
	})
}

func TestCommandsAreWaitedFor(t *testing.T) {
	ended := false
	do := func(ctx context.Context, _ Command) {
		<-ctx.Done()
		time.Sleep(time.Second)
		ended = true
	}
	onScreen(t, do, func(m *Menu, s *screen) {
		m.Show(at())
		time.Sleep(time.Second)
		s.clicked(keyQuit)
		synctest.Wait()
	})
	if !ended {
		t.Error("Run returned before the command had ended")
	}
}
