package shim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"deckhand/gateway/link"
	"deckhand/gateway/runner"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/shim"
	"deckhand/gateway/turn"
)

// TestMain lets the test binary stand in for deckhand: as the shim, and as the
// stage of its sandbox.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			os.Exit(sandbox.Stage(os.Args[2:]))
		case "shim":
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			if err := shim.Main(ctx, os.Args[3]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
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

// realClaude is the Claude Code that the tests drive.
func realClaude(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DECKHAND_TEST_CLAUDE")
	if path == "" {
		t.Fatal("DECKHAND_TEST_CLAUDE is not set: run the tests with \"make test\", or set it to a Claude Code binary")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// rig is a runner with a fake gateway.
type rig struct {
	*fakeGateway
	runner *runner.Runner
	dir    string
	spec   runner.Spec
}

func newRig(t *testing.T, configure ...func(*runner.Config)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "deckhand-shim-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := runner.Config{Runs: dir + "/runs", Homes: dir + "/homes", Socket: dir + "/private/shim.sock", Self: self}
	for _, f := range configure {
		f(&cfg)
	}
	g := newFakeGateway(t, cfg.Socket)
	schema := json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`)
	return &rig{fakeGateway: g, runner: runner.New(cfg), dir: dir, spec: runner.Spec{
		Run: g.run, Session: turn.NewSessionID(), Token: g.token, Claude: realClaude(t), ClaudeSession: uuid.NewString(),
		Prompt: "Look around.", LeaseExpiresAt: time.Now().Add(time.Hour), Tools: []runner.Tool{
			{Name: "Read", Description: "Reads a file.", InputSchema: schema, ReadOnly: true},
			{Name: "Write", Description: "Writes a file.", InputSchema: schema},
		}}}
}

// start starts the run; the test may not leave it behind.
func (r *rig) start() *runner.Handle {
	r.t.Helper()
	h, err := r.runner.Start(r.t.Context(), r.spec)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		h.Kill()
		<-h.Done()
		if r.t.Failed() {
			for _, name := range []string{"shim.log", "stdout.log", "stderr.log"} {
				raw, _ := os.ReadFile(filepath.Join(string(r.runner.Dir(r.spec.Run)), name))
				r.t.Logf("%s:\n%s", name, raw)
			}
		}
	})
	return h
}

// ended waits for the shim's end and returns the exit record.
func (r *rig) ended(h *runner.Handle) link.Exit {
	r.t.Helper()
	select {
	case <-h.Done():
	case <-time.After(60 * time.Second):
		r.t.Fatal("the shim does not end; offers: " + r.describe())
	}
	if alive, err := r.runner.Alive(r.spec.Run); err != nil || alive {
		r.t.Errorf("after its end the run is alive: %v %v", alive, err)
	}
	exit, ok, err := r.runner.Exit(r.spec.Run)
	if err != nil || !ok {
		r.t.Fatalf("exit record: %v %v", ok, err)
	}
	return exit
}

func read(path string) link.ToolUse {
	raw, _ := json.Marshal(map[string]string{"file_path": path})
	return link.ToolUse{Name: "Read", Arguments: raw}
}

func isSuccess(e link.Exit) bool {
	return e.Code == 0 && e.Result && !e.IsError && e.Subtype == "success" && !e.Ended && e.LaunchCode == ""
}
