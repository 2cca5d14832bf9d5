package tray

import (
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// reachable says why there can be no menu: systray needs a session bus, and ends
// the process if there is none when it quits.
func reachable() error {
	// Without starting one: a bus of our own has no panel on it.
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return fmt.Errorf("no session bus to show a menu on: %w", err)
	}
	err = conn.Auth(nil)
	if err == nil {
		err = conn.Hello()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the session bus takes no menu: %w", err), conn.Close())
	}
	return conn.Close()
}
