package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"deckhand/gateway/protected"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// TestMain lets the test binary stand in for deckhand: as the stage of a
// sandbox and as the subcommand that a login shell runs, and for a gateway that
// is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			quit(sandbox.Stage(os.Args[2:]))
		case "environment":
			if err := PrintEnvironment(os.Stdout, os.Args[2], os.Environ()); err != nil {
				quit(1)
			}
			quit(0)
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

// quit ends at once, without the second that the race detector waits for.
func quit(code int) { syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0) }

// world is a home, a project and a runner over them.
type world struct {
	t *testing.T
	*Runner
	home, project, cache string
	session              turn.SessionID
}

// ground makes a folder for a test. It is not below /tmp or /var/tmp, of which a
// sandbox has its own.
func ground(t *testing.T) string {
	t.Helper()
	at := "."
	if os.Getuid() == 0 {
		at = "/var/lib"
	}
	base, err := os.MkdirTemp(at, ".deckhand-command-")
	must(t, err)
	base, err = filepath.Abs(base)
	must(t, err)
	base, err = filepath.EvalSymlinks(base)
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(base)) })
	return base
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base := ground(t)
	w := &world{t: t, home: base + "/home", project: base + "/project", cache: base + "/cache", session: turn.NewSessionID()}
	for _, dir := range []string{w.home, w.project} {
		must(t, os.Mkdir(dir, 0o755))
	}
	w.Runner = w.runner(nil)
	return w
}

// runner makes a runner whose gateway has these variables besides the usual.
func (w *world) runner(environ map[string]string) *Runner {
	w.t.Helper()
	self, err := os.Executable()
	must(w.t, err)
	paths, err := protected.New(protected.Config{Home: w.home, State: filepath.Join(w.home, "state")})
	must(w.t, err)
	vars := map[string]string{"HOME": w.home, "PATH": os.Getenv("PATH"), "SHELL": "/bin/sh"}
	for name, value := range environ {
		vars[name] = value
	}
	r, err := New(Config{
		Self: self, Home: w.home, Environ: vars, Cache: w.cache, Protected: paths, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		Launcher: func(context.Context) (*sandbox.Launcher, error) { return sandbox.Find(sandbox.Config{Self: self}) },
	})
	must(w.t, err)
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a file of the project.
func (w *world) write(name, text string, mode os.FileMode) string {
	w.t.Helper()
	path := filepath.Join(w.project, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), mode))
	return path
}

// call is a command in the project.
func (w *world) call(argv ...string) Call {
	return Call{Session: w.session, Argv: argv, Dir: w.project, Root: w.project, Timeout: time.Minute, Progress: func(int64, int64) {}}
}

// do runs a call and makes sure of what holds for every result.
func (w *world) do(ctx context.Context, c Call) turn.Result {
	w.t.Helper()
	r := w.Run(ctx, c)
	if len(r.Text) > turn.MaxReceiptText || turn.EncodedSize(r.Text) > turn.MaxReceiptText || !utf8.ValidString(r.Text) || r.Text == "" {
		w.t.Fatalf("%q: a text of %d bytes, %d as JSON, valid UTF-8 is %v", c.Argv, len(r.Text), turn.EncodedSize(r.Text), utf8.ValidString(r.Text))
	}
	if (r.Outcome == turn.OK) != (r.Code == "") {
		w.t.Fatalf("%q: outcome %s with code %q", c.Argv, r.Outcome, r.Code)
	}
	return r
}

// ran runs a command that has to come to its own end.
func (w *world) ran(argv ...string) string {
	w.t.Helper()
	r := w.do(w.t.Context(), w.call(argv...))
	if r.Outcome != turn.OK {
		w.t.Fatalf("%q: %s: %s", argv, r.Code, r.Text)
	}
	return r.Text
}

// sh is ran for a script.
func (w *world) sh(script string) string {
	w.t.Helper()
	return w.ran("sh", "-c", script)
}

// holds reports every part that a text does not have.
func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
