package tray

import (
	"fmt"

	"github.com/godbus/dbus/v5"
)

// reachable says why there can be no menu: systray needs a session bus, and ends
// the process if there is none when it quits.
func reachable() error {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return fmt.Errorf("no session bus to show a menu on: %w", err)
	}
	return conn.Close()
}
