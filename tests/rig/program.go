package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// ClaudeVariable names the Claude Code binary that the tests drive.
const ClaudeVariable = "DECKHAND_TEST_CLAUDE"

// built is the program as one set of build tags makes it.
type built struct {
	tags string
	// variable names one that the run of OwnMounts finds as it was built before.
	variable string

	once sync.Once
	dir  string
	err  error
}

// plain is the program as users have it; crashing dies on request, at the
// points that package executor names.
var (
	plain    = built{variable: "DECKHAND_TEST_PROGRAM"}
	crashing = built{tags: "crashtest", variable: "DECKHAND_TEST_CRASHING_PROGRAM"}
)

// Program returns the path of the built binary.
func Program(t testing.TB) string {
	t.Helper()
	return plain.path(t)
}

// CrashingProgram returns the path of a binary that kills itself at the point
// of a write that DECKHAND_CRASH_AT names.
func CrashingProgram(t testing.TB) string {
	t.Helper()
	return crashing.path(t)
}

func (b *built) path(t testing.TB) string {
	t.Helper()
	if given := os.Getenv(b.variable); given != "" {
		return given
	}
	b.once.Do(func() {
		b.dir, b.err = os.MkdirTemp("", "deckhand-tests-")
		if b.err != nil {
			return
		}
		args := []string{"build", "-o", b.dir, "-tags", b.tags}
		if raceEnabled {
			args = append(args, "-race")
		}
		out, err := exec.Command("go", append(args, "deckhand/app")...).CombinedOutput()
		if err != nil {
			b.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if b.err != nil {
		t.Fatalf("build the program: %v", b.err)
	}
	return filepath.Join(b.dir, "app")
}

// Sweep removes what Program and CrashingProgram built. It is for the end of
// TestMain.
func Sweep() error {
	var err error
	for _, b := range []*built{&plain, &crashing} {
		if b.dir != "" {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	}
	return err
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
