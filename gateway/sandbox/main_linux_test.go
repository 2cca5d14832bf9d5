package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for deckhand: as the stage of a
// sandbox, and as the programs that the tests confine and compare with.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			quit(Stage(os.Args[2:]))
		case "probe":
			os.Exit(probeMain(os.Args[2], os.Args[3:]))
		case "refused":
			os.Exit(printed(refused(os.Args[2])))
		case "appear":
			os.Exit(printed(nil, appear(os.Args[2])))
		case "launch":
			os.Exit(launchMain(os.Args[2]))
		}
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// quit ends at once. A binary with the race detector would else wait for a
// second at its end, in case that another goroutine has something to report.
func quit(code int) { syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0) }

// probeEnv is the environment of every probe. It spares them that second.
var probeEnv = []string{"GORACE=atexit_sleep_ms=0"}

func newLauncher() (*Launcher, error) { return Find(Config{Self: "/proc/self/exe"}) }

func launcher(t *testing.T) *Launcher {
	t.Helper()
	l, err := newLauncher()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// launch starts a probe confined.
func launch(t *testing.T, p Policy, c Command, probe string, args ...string) *Process {
	t.Helper()
	c.Path, c.Args, c.Env = stagePath, append([]string{"probe", probe}, args...), probeEnv
	process, err := launcher(t).Start(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// confined runs a probe confined and returns what it printed.
func confined(t *testing.T, p Policy, probe string, args ...string) string {
	t.Helper()
	return confinedAs(t, p, Command{}, probe, args...)
}

// confinedAs is confined with a say in the rest of the command.
func confinedAs(t *testing.T, p Policy, c Command, probe string, args ...string) string {
	t.Helper()
	out := tempFile(t, "")
	c.Stdout, c.Stderr = out, out
	process := launch(t, p, c, probe, args...)
	if exit := process.Wait(); exit != (Exit{}) {
		t.Fatalf("probe %s ended with %+v: %s", probe, exit, contents(t, out))
	}
	return contents(t, out)
}

// unconfined runs the same probe as this user does, not confined.
func unconfined(t *testing.T, probe string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"probe", probe}, args...)...)
	cmd.Env = probeEnv
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("probe %s outside: %v: %s", probe, err, out)
	}
	return string(out)
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// canonicalTempDir is t.TempDir as a policy wants it.
func canonicalTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// dirOutsideTmp is like it, and not below /tmp, of which a sandbox has its own.
func dirOutsideTmp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "deckhand-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func mkdirs(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tempFile is an open file with the given contents, to read from the start.
func tempFile(t *testing.T, contents string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(contents); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(data))
}

// launchMain is a program that starts a tree in a sandbox and waits for it:
// the one that a test kills.
func launchMain(writable string) int {
	l, err := newLauncher()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := l.Start(context.Background(), Policy{Writable: []string{writable}},
		Command{Path: stagePath, Args: []string{"probe", "tree", writable}, Env: probeEnv, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p.Wait()
	return 0
}
