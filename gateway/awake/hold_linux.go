package awake

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"
)

// hold takes an inhibitor of logind: the descriptor that it hands out holds
// until it is closed, so it goes with the process.
func hold(ctx context.Context) (release func() error, err error) {
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("connect to the system: %w", err)
	}
	// The descriptor outlives the connection.
	defer func() { err = errors.Join(err, conn.Close()) }()
	var lock dbus.UnixFD
	manager := conn.Object("org.freedesktop.login1", "/org/freedesktop/login1")
	call := manager.CallWithContext(ctx, "org.freedesktop.login1.Manager.Inhibit", 0,
		"idle", "Deckhand", "a Claude Code session runs", "block")
	if err := call.Store(&lock); err != nil {
		return nil, fmt.Errorf("ask logind to stay awake: %w", err)
	}
	return os.NewFile(uintptr(lock), "inhibitor").Close, nil
}
