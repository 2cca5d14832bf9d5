package tray

import (
	"context"
	"fmt"

	"github.com/gen2brain/beeep"
)

// Notifier shows notices in the notification centre. It is safe for concurrent
// use.
//
// Without a Developer ID no way of notifying is reliable on macOS, so the icon
// is what tells; this is best effort.
type Notifier struct{}

// NewNotifier returns a notifier.
func NewNotifier() *Notifier { return &Notifier{} }

// Show hands a notice to the system, which takes up to two seconds.
func (*Notifier) Show(ctx context.Context, notice Notice) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := beeep.Notify(notice.Title, notice.Body, ""); err != nil {
		return fmt.Errorf("show notification: %w", err)
	}
	return nil
}

// Close lets go of the notification centre.
func (*Notifier) Close() error { return nil }
