package tests

import (
	"fmt"
	"os"
	"testing"

	"deckhand/tests/rig"
)

// TestMain removes the program that the tests built.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := rig.Sweep(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the built program:", err)
		code = 1
	}
	os.Exit(code)
}
