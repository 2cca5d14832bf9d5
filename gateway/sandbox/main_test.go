package sandbox

import (
	"os"
	"testing"
)

// TestMain lets the test binary stand in for deckhand: as the stage of a
// sandbox, and as the programs that the tests confine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			os.Exit(Stage(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}
