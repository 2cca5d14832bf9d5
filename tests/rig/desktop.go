package rig

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deckhand/app/demo/child"
)

// Names on the bus.
const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	noticeName  = "org.freedesktop.Notifications"
	noticePath  = "/org/freedesktop/Notifications"
)

// Desktop is a session bus of its own with what a tray app meets there: the
// place where icons register, and a notification service. The bus is the real
// one; there is no screen.
type Desktop struct {
	t       testing.TB
	Address string
	conn    *dbus.Conn
	bus     *exec.Cmd
	ended   chan struct{}

	mu      sync.Mutex
	icons   []string // who registered, in order; guarded by mu
	notices []Notice // guarded by mu
}

// Notice is a notification as it was asked for.
type Notice struct {
	Title, Body string
	Replaces    uint32
	Actions     []string
}

// NewDesktop starts a bus with both services on it.
func NewDesktop(t testing.TB) *Desktop {
	t.Helper()
	d := &Desktop{t: t}
	d.startBus()
	d.connect()
	d.ShowPanel()
	d.ShowNotices()
	return d
}

func (d *Desktop) startBus() {
	d.t.Helper()
	// Not t.TempDir: sockets need short paths.
	dir, err := os.MkdirTemp("", "dh-bus-")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			d.t.Error(err)
		}
	})
	d.Address = "unix:path=" + filepath.Join(dir, "bus")
	d.bus = exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address="+d.Address)
	out, err := d.bus.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.bus.Start(); err != nil {
		d.t.Fatalf("start dbus-daemon, which make setup-test installs: %v", err)
	}
	ended := make(chan struct{})
	d.ended = ended
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		d.t.Fatal(err)
	}
	bus := d.bus
	go func() {
		_ = bus.Wait() // it is killed in the end
		close(ended)
	}()
	d.t.Cleanup(d.EndBus)
}

// EndBus ends the bus, as logging out does.
func (d *Desktop) EndBus() {
	_ = d.bus.Process.Kill() // it may have ended
	<-d.ended
}

func (d *Desktop) connect() {
	d.t.Helper()
	conn, err := dbus.Connect(d.Address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.conn = conn
	d.t.Cleanup(func() { conn.Close() })
}

// watcher is the exported half of the place where icons register.
type watcher struct{ d *Desktop }

// RegisterStatusNotifierItem is the call by which an icon registers.
func (w watcher) RegisterStatusNotifierItem(_ string, sender dbus.Sender) *dbus.Error {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.d.icons = append(w.d.icons, string(sender))
	return nil
}

// notifications is the exported half of the notification service.
type notifications struct{ d *Desktop }

// Notify is the call that shows a notification.
func (n notifications) Notify(_ string, replaces uint32, _, summary, body string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	n.d.notices = append(n.d.notices, Notice{Title: summary, Body: body, Replaces: replaces, Actions: actions})
	if replaces != 0 {
		return replaces, nil
	}
	return uint32(len(n.d.notices)), nil
}

// GetCapabilities says that bodies are markup, as most services do.
func (n notifications) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"body", "body-markup"}, nil
}

// ShowPanel makes the place where icons register appear, as when a panel starts.
func (d *Desktop) ShowPanel() {
	d.t.Helper()
	d.own(watcherName, watcherPath, watcher{d})
}

// HidePanel takes it away, as when a panel ends.
func (d *Desktop) HidePanel() { d.disown(watcherName) }

// ShowNotices makes the notification service appear.
func (d *Desktop) ShowNotices() {
	d.t.Helper()
	d.own(noticeName, noticePath, notifications{d})
}

// HideNotices takes it away.
func (d *Desktop) HideNotices() { d.disown(noticeName) }

func (d *Desktop) own(name, path string, service any) {
	d.t.Helper()
	err := d.conn.Export(service, dbus.ObjectPath(path), name)
	var reply dbus.RequestNameReply
	if err == nil {
		reply, err = d.conn.RequestName(name, dbus.NameFlagDoNotQueue)
	}
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		d.t.Fatalf("take the name %s: %v %v", name, reply, err)
	}
}

func (d *Desktop) disown(name string) {
	d.t.Helper()
	if _, err := d.conn.ReleaseName(name); err != nil {
		d.t.Fatal(err)
	}
}

// WithMenu runs the app with its menu on a desktop.
func WithMenu(d *Desktop) Option {
	return func(o *child.Options) {
		o.Menu = true
		o.Env = append(o.Env, "DBUS_SESSION_BUS_ADDRESS="+d.Address)
	}
}

// Icons says how often an icon has registered.
func (d *Desktop) Icons() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.icons)
}

// Notices returns the notifications so far.
func (d *Desktop) Notices() []Notice {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notices)
}

// AwaitNotice returns the first notification whose title and body hold text.
func (d *Desktop) AwaitNotice(text string) Notice {
	d.t.Helper()
	var found Notice
	Await(d.t, fmt.Sprintf("a notification that says %q", text), func() bool {
		for _, n := range d.Notices() {
			if strings.Contains(n.Title+" "+n.Body, text) {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

// Item is one entry of the menu as a panel gets it.
type Item struct {
	ID               int32
	Label            string
	Enabled, Visible bool
	Checked          bool
	Separator        bool
	Children         []Item
}

// Menu asks the newest icon for its menu.
func (d *Desktop) Menu() (Item, error) {
	d.mu.Lock()
	icon := ""
	if len(d.icons) > 0 {
		icon = d.icons[len(d.icons)-1]
	}
	d.mu.Unlock()
	if icon == "" {
		return Item{}, errors.New("no icon has registered")
	}
	var revision uint32
	var root []any
	call := d.conn.Object(icon, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{})
	if err := call.Store(&revision, &root); err != nil {
		return Item{}, err
	}
	return itemOf(root)
}

// itemOf reads one entry of the protocol: id, properties, children.
func itemOf(raw []any) (Item, error) {
	if len(raw) != 3 {
		return Item{}, fmt.Errorf("an entry of the menu has %d parts", len(raw))
	}
	id, okID := raw[0].(int32)
	properties, okProperties := raw[1].(map[string]dbus.Variant)
	children, okChildren := raw[2].([]dbus.Variant)
	if !okID || !okProperties || !okChildren {
		return Item{}, fmt.Errorf("an entry of the menu is %T %T %T", raw[0], raw[1], raw[2])
	}
	item := Item{ID: id, Enabled: true, Visible: true}
	for name, value := range properties {
		switch v := value.Value().(type) {
		case string:
			switch name {
			case "label":
				item.Label = strings.ReplaceAll(v, "__", "_")
			case "type":
				item.Separator = v == "separator"
			}
		case bool:
			switch name {
			case "enabled":
				item.Enabled = v
			case "visible":
				item.Visible = v
			}
		case int32:
			if name == "toggle-state" {
				item.Checked = v == 1
			}
		}
	}
	for _, c := range children {
		raw, ok := c.Value().([]any)
		if !ok {
			return item, fmt.Errorf("a child of the menu is %T", c.Value())
		}
		child, err := itemOf(raw)
		if err != nil {
			return item, err
		}
		item.Children = append(item.Children, child)
	}
	return item, nil
}

// Find returns the first visible entry along a path of labels, each of which
// holds the text.
func (i Item) Find(path ...string) (Item, bool) {
	for _, c := range i.Children {
		if !c.Visible || !strings.Contains(c.Label, path[0]) {
			continue
		}
		if len(path) == 1 {
			return c, true
		}
		if found, ok := c.Find(path[1:]...); ok {
			return found, true
		}
	}
	return Item{}, false
}

// Text draws what a person sees.
func (i Item) Text() string {
	var b strings.Builder
	var level func([]Item, string)
	level = func(items []Item, indent string) {
		for _, c := range items {
			if c.Visible && !c.Separator {
				fmt.Fprintf(&b, "%s%s\n", indent, c.Label)
				level(c.Children, indent+"    ")
			}
		}
	}
	level(i.Children, "")
	return b.String()
}

// Await returns the entry along a path of labels once it is there and can be
// clicked. Ids are never remembered: the first layouts are not whole.
func (d *Desktop) Await(path ...string) Item {
	d.t.Helper()
	var item, root Item
	var err error
	end := time.Now().Add(awaitWithin)
	for {
		if root, err = d.Menu(); err == nil {
			var ok bool
			if item, ok = root.Find(path...); ok && item.Enabled {
				return item
			}
		}
		if time.Now().After(end) {
			d.t.Fatalf("the menu has no %q that can be clicked: %v\n%s", path, err, root.Text())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// AwaitText returns once the menu shows a text, or once it does not any more.
func (d *Desktop) AwaitText(text string, shown bool) {
	d.t.Helper()
	last := ""
	end := time.Now().Add(awaitWithin)
	for {
		if root, err := d.Menu(); err == nil {
			if last = root.Text(); strings.Contains(last, text) == shown {
				return
			}
		}
		if time.Now().After(end) {
			d.t.Fatalf("the menu shows %q: %t, want %t\n%s", text, !shown, shown, last)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// clickAfter is how long an entry has to stand before a click on it counts.
const clickAfter = 800 * time.Millisecond

// Click clicks the entry along a path of labels, as a person does who has read
// it first.
func (d *Desktop) Click(path ...string) {
	d.t.Helper()
	d.Await(path...)
	time.Sleep(clickAfter)
	d.ClickNow(path...)
}

// ClickNow clicks it at once.
func (d *Desktop) ClickNow(path ...string) {
	d.t.Helper()
	item := d.Await(path...)
	d.mu.Lock()
	icon := d.icons[len(d.icons)-1]
	d.mu.Unlock()
	call := d.conn.Object(icon, "/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.Event", 0,
		item.ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	if call.Err != nil {
		d.t.Fatal(call.Err)
	}
}
