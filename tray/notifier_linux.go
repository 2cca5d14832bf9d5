package tray

import (
	"context"
	"fmt"
	"html"
	"image"
	"image/draw"
	"slices"
	"sync"

	"github.com/esiqveland/notify"
	"github.com/godbus/dbus/v5"
)

// Notifier shows notices on the desktop. It is safe for concurrent use.
//
// It speaks to the desktop's notification service on a connection of its own:
// the one that the menu's library shares with the whole process stops the menu
// from coming back after the panel was restarted if anything else uses it.
type Notifier struct {
	mu     sync.Mutex
	conn   *dbus.Conn        // nil until the first notice, and after a failure; guarded by mu
	markup bool              // the service reads markup in bodies; guarded by mu
	last   map[string]uint32 // the notification that tells of each session; guarded by mu
}

// NewNotifier returns a notifier. It connects with the first notice.
func NewNotifier() *Notifier { return &Notifier{} }

// Show shows a notice, in place of an earlier one about the same, and waits for
// the service as long as ctx lasts. The error says that nothing shows it.
func (n *Notifier) Show(ctx context.Context, notice Notice) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.connect(); err != nil {
		return fmt.Errorf("connect to the desktop: %w", err)
	}
	// A call of the library has no end of its own.
	conn := n.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if n.last == nil {
		capabilities, err := notify.GetCapabilities(conn)
		if err != nil {
			return fmt.Errorf("ask the notification service: %w", err)
		}
		n.markup, n.last = slices.Contains(capabilities, "body-markup"), map[string]uint32{}
	}
	body := notice.Body
	if n.markup {
		body = html.EscapeString(body)
	}
	note := notify.Notification{AppName: "Deckhand", ReplacesID: n.last[notice.About],
		Summary: notice.Title, Body: body, ExpireTimeout: notify.ExpireTimeoutSetByNotificationServer}
	mood := Bar{Mood: Calm}
	if notice.Urgent {
		mood = Bar{Mood: Attention, Count: 1}
	}
	note.AddHint(notify.HintImageDataRGBA(premultiplied(drawIcon(mood, Coloured, noticeSize))))
	// Never critical: that breaks through "do not disturb".
	note.SetUrgency(notify.UrgencyLow)
	if notice.Urgent {
		note.SetUrgency(notify.UrgencyNormal)
	}
	id, err := notify.SendNotification(conn, note)
	if err != nil {
		return fmt.Errorf("show notification: %w", err)
	}
	if notice.About != "" {
		n.last[notice.About] = id
	}
	return nil
}

// premultiplied returns the image in the form that the library sends.
func premultiplied(from *image.NRGBA) *image.RGBA {
	to := image.NewRGBA(from.Bounds())
	draw.Draw(to, to.Bounds(), from, image.Point{}, draw.Src)
	return to
}

// connect connects unless there is a connection. n.last is nil after it if the
// service is one that was not asked yet.
func (n *Notifier) connect() error {
	if n.conn != nil && n.conn.Connected() {
		return nil
	}
	n.conn, n.last = nil, nil
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return err
	}
	n.conn = conn
	return nil
}

// Close lets go of the desktop. What is shown stays.
func (n *Notifier) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn == nil {
		return nil
	}
	err := n.conn.Close()
	n.conn = nil
	return err
}
