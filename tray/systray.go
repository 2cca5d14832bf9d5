//go:build linux || (darwin && cgo)

package tray

import (
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/systray"
)

// lostIcon are the times after which the icon is set again: systray loses what
// is set while the desktop is still taking the icon up.
var lostIcon = []time.Duration{300 * time.Millisecond, 2300 * time.Millisecond}

// NewPort returns the menu bar of this system.
func NewPort(log *slog.Logger) (Port, error) {
	if err := reachable(); err != nil {
		return nil, err
	}
	return &sysTray{log: log, items: map[Key]*systray.MenuItem{}, done: make(chan struct{})}, nil
}

// sysTray is the Port on fyne.io/systray. Items are made once and never removed:
// removing one while it is clicked ends the process.
type sysTray struct {
	log   *slog.Logger
	items map[Key]*systray.MenuItem // written by Build alone
	icon  sync.Mutex                // one setting of the icon at a time
	done  chan struct{}             // closed when the tray ends
	work  sync.WaitGroup
	quit  sync.Once
	// broken is set when the session bus is gone: drawing would panic.
	broken atomic.Bool
}

func (t *sysTray) Run(ready, exit func()) {
	// Before Run the title is also the name by which desktops know the icon.
	systray.SetTitle("deckhand")
	var once sync.Once
	end := func() { once.Do(func() { close(t.done); exit() }) }
	// Without a bus, which may have gone since it was looked for, the library
	// panics at the end.
	t.safely(func() { systray.Run(ready, end) })
	end()
	t.work.Wait()
}

func (t *sysTray) Quit() {
	t.quit.Do(func() { t.safely(systray.Quit) })
}

func (t *sysTray) Build(entries []Entry, clicked func(Key)) {
	t.safely(func() {
		for _, e := range entries {
			if e.Kind == Rule {
				systray.AddSeparator()
				continue
			}
			t.build(e, nil, clicked)
		}
	})
}

func (t *sysTray) build(e Entry, parent *systray.MenuItem, clicked func(Key)) {
	var item *systray.MenuItem
	switch {
	case parent == nil && e.Kind == Switch:
		item = systray.AddMenuItemCheckbox(" ", "", false)
	case parent == nil:
		item = systray.AddMenuItem(" ", "")
	default:
		item = parent.AddSubMenuItem(" ", "")
	}
	item.Hide()
	t.items[e.Key] = item
	for _, child := range e.Children {
		t.build(child, item, clicked)
	}
	if e.Kind == Line {
		return
	}
	t.work.Go(func() {
		for {
			select {
			case <-item.ClickedCh:
				clicked(e.Key)
			case <-t.done:
				return
			}
		}
	})
}

func (t *sysTray) Place(key Key, was, is State) {
	item := t.items[key]
	t.safely(func() {
		if is.Hidden {
			if !was.Hidden {
				item.Hide()
			}
			return
		}
		// What was hidden may have been anything before.
		if is.Title != was.Title || was.Hidden {
			item.SetTitle(Escape(Platform(runtime.GOOS), is.Title))
		}
		if is.Checked != was.Checked || was.Hidden {
			set := item.Uncheck
			if is.Checked {
				set = item.Check
			}
			set()
		}
		if is.Disabled != was.Disabled || was.Hidden {
			set := item.Enable
			if is.Disabled {
				set = item.Disable
			}
			set()
		}
		if was.Hidden {
			item.Show()
		}
	})
}

func (t *sysTray) Bar(b Bar) {
	t.bar(b)
	for _, after := range lostIcon {
		t.work.Go(func() {
			select {
			case <-time.After(after):
				t.bar(b)
			case <-t.done:
			}
		})
	}
}

func (t *sysTray) bar(b Bar) {
	t.icon.Lock()
	defer t.icon.Unlock()
	t.safely(func() {
		systray.SetTemplateIcon(Icon(b, Template), Icon(b, Coloured))
		systray.SetTooltip(b.Tooltip)
		if runtime.GOOS == "darwin" {
			systray.SetTitle(badge(b.Count))
		}
	})
}

// safely draws unless drawing has failed before. systray panics when the
// session bus goes; that may not take the gateway with it.
func (t *sysTray) safely(f func()) {
	defer func() {
		if p := recover(); p != nil && !t.broken.Swap(true) {
			t.log.Error("the menu cannot be drawn any more; the gateway goes on", "cause", p)
		}
	}()
	if !t.broken.Load() {
		f()
	}
}
