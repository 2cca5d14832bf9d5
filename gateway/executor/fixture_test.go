package executor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// fixture is an executor over a temporary world: a home with a secret, a state
// directory and a working directory.
type fixture struct {
	t     *testing.T
	e     *Executor
	base  string
	home  string
	work  string
	scope Scope
	// intents are what was prepared, befores the contents until then.
	intents []turn.WriteIntent
	befores [][]byte
	// prepared is what the preparation of a write fails with, if not nil.
	prepared error
}

// sink records what is prepared.
func (f *fixture) sink() Sink {
	return Sink{Action: turn.NewActionID(), Prepare: func(w turn.WriteIntent, before []byte) error {
		if f.prepared != nil {
			return f.prepared
		}
		f.intents, f.befores = append(f.intents, w), append(f.befores, slices.Clone(before))
		return nil
	}}
}

const secret = "SECRET-do-not-show"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newFixtureAt(t, base)
}

func newFixtureAt(t *testing.T, base string) *fixture {
	t.Helper()
	f := &fixture{t: t, base: base, home: base + "/people/me", work: base + "/work"}
	f.write("people/me/.ssh/id", secret+"\n")
	f.write("state/private/token", secret+"\n")
	f.mkdir("work")
	f.refresh()
	f.scope = Scope{Session: turn.NewSessionID(), Profile: turn.ReadOnly, Subagent: turn.NoSubagent, WorkingDirectory: f.work}
	return f
}

// refresh makes the executor anew, so that protected paths look at the disk.
func (f *fixture) refresh() {
	f.t.Helper()
	f.stateAt("state")
}

// stateAt makes the executor anew with Deckhand's state in another place.
func (f *fixture) stateAt(rel string) {
	f.t.Helper()
	paths, err := protected.New(protected.Config{Home: f.home, State: f.path(rel)})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.e, err = New(Config{Protected: paths, SearchTime: time.Minute}); err != nil {
		f.t.Fatal(err)
	}
	f.e.missTime = time.Minute // however busy the computer is
}

// path makes an absolute path of one relative to base.
func (f *fixture) path(rel string) string { return f.base + "/" + rel }

func (f *fixture) mkdir(rel string) {
	f.t.Helper()
	if err := os.MkdirAll(f.path(rel), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) write(rel, text string) {
	f.t.Helper()
	f.mkdir(filepath.Dir(rel))
	if err := os.WriteFile(f.path(rel), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) symlink(target, rel string) {
	f.t.Helper()
	f.mkdir(filepath.Dir(rel))
	if err := os.Symlink(target, f.path(rel)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) link(from, to string) {
	f.t.Helper()
	if err := os.Link(f.path(from), f.path(to)); err != nil {
		f.t.Fatal(err)
	}
}

// arguments of a call in a test.
type args map[string]any

// run checks and runs a call and makes sure of what holds for every result.
func (f *fixture) run(name string, a args) turn.Result {
	f.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		f.t.Fatal(err)
	}
	call, err := f.e.Check(f.scope, name, raw)
	if err != nil {
		f.t.Fatalf("%s %s: %v", name, raw, err)
	}
	r := f.e.Run(f.t.Context(), f.scope, call, f.sink())
	if len(r.Text) > turn.MaxReceiptText || !utf8.ValidString(r.Text) || r.Text == "" {
		f.t.Fatalf("%s %s: a text of %d bytes, valid UTF-8 is %v", name, raw, len(r.Text), utf8.ValidString(r.Text))
	}
	if strings.Contains(r.Text, secret) {
		f.t.Fatalf("%s %s shows the secret:\n%s", name, raw, r.Text)
	}
	if (r.Outcome == turn.OK) != (r.Code == "") {
		f.t.Fatalf("%s %s: outcome %s with code %q", name, raw, r.Outcome, r.Code)
	}
	return r
}

// ok is run for a call that must succeed.
func (f *fixture) ok(name string, a args) turn.Result {
	f.t.Helper()
	r := f.run(name, a)
	if r.Outcome != turn.OK {
		f.t.Fatalf("%s %v: %s: %s", name, a, r.Code, r.Text)
	}
	return r
}

// body returns the text of a Read without its header.
func body(r turn.Result) string {
	_, rest, _ := strings.Cut(r.Text, "\n")
	return rest
}
