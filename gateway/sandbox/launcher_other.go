//go:build !linux && !darwin

package sandbox

import (
	"context"
	"fmt"
	"os"

	"deckhand/gateway/turn"
)

// Kind names what confines on this system.
const Kind = "nothing"

// MaxHidden bounds Policy.Hidden, of which nothing is made here.
const MaxHidden = 64

// Launcher starts confined processes. There is none on this system.
type Launcher struct{}

// Find refuses: nothing can be confined here.
func Find(Config) (*Launcher, error) { return nil, unsupported() }

// Start refuses, as Find does.
func (l *Launcher) Start(context.Context, Policy, Command) (*Process, error) {
	return nil, unsupported()
}

// SelfTest refuses, as Find does.
func (l *Launcher) SelfTest(context.Context) error { return unsupported() }

// Stage is never started on this system.
func Stage([]string) int {
	fmt.Fprintln(os.Stderr, "deckhand stage:", unsupported())
	return 2
}

func unsupported() error { return turn.Refuse(turn.SandboxUnavailable, "%s", unsupportedReason) }
