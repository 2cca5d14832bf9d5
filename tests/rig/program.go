package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// ClaudeVariable names the Claude Code binary that the tests drive.
const ClaudeVariable = "DECKHAND_TEST_CLAUDE"

var program struct {
	once sync.Once
	dir  string
	err  error
}

// Program returns the path of the built binary.
func Program(t testing.TB) string {
	t.Helper()
	program.once.Do(func() {
		program.dir, program.err = os.MkdirTemp("", "deckhand-tests-")
		if program.err != nil {
			return
		}
		args := []string{"build", "-o", program.dir}
		if raceEnabled {
			args = append(args, "-race")
		}
		out, err := exec.Command("go", append(args, "deckhand/app")...).CombinedOutput()
		if err != nil {
			program.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatalf("build the program: %v", program.err)
	}
	return filepath.Join(program.dir, "app")
}

// Sweep removes what Program built. It is for the end of TestMain.
func Sweep() error {
	if program.dir == "" {
		return nil
	}
	return os.RemoveAll(program.dir)
}

// Claude returns the path of the real Claude Code.
func Claude(t testing.TB) string {
	t.Helper()
	path := os.Getenv(ClaudeVariable)
	if path == "" {
		t.Fatalf("%s is not set: it has to name the Claude Code binary (make test sets it)", ClaudeVariable)
	}
	return path
}
