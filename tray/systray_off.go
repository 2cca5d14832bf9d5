//go:build !linux && !(darwin && cgo)

package tray

import (
	"errors"
	"log/slog"
)

// NewPort fails: this program was built without a menu bar.
func NewPort(*slog.Logger) (Port, error) {
	return nil, errors.New("this Deckhand was built without a menu bar; build it on macOS with cgo")
}
