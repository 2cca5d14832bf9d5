package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/protected"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// world is an engine of real parts in a home of its own. Its runs have all but
// a shim: the program of it does not exist, so that a run opens its workspace
// and then fails.
type world struct {
	t          *testing.T
	home, repo string
	cfg        Config
	keys       int
	*Engine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: home, repo: filepath.Join(home, "shop")}
	state := filepath.Join(home, "state")
	for _, dir := range []string{w.repo, filepath.Join(state, "ledger"), filepath.Join(state, "git")} {
		w.must(os.MkdirAll(dir, 0o700))
	}
	w.must(os.WriteFile(filepath.Join(w.repo, "a.txt"), []byte("one\n"), 0o644))
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	paths, err := protected.New(protected.Config{Home: home, State: state})
	w.must(err)
	tools, err := executor.New(executor.Config{Protected: paths})
	w.must(err)
	trees, err := worktree.New(t.Context(), worktree.Config{Scratch: filepath.Join(state, "git"), Home: home, Protected: paths})
	w.must(err)
	w.cfg = Config{
		OpenLedger: func(onCommit func(turn.SessionID)) (*ledger.Ledger, error) {
			return ledger.Open(ledger.Options{Dir: filepath.Join(state, "ledger"), OnCommit: onCommit})
		},
		Key: filepath.Join(state, "key"),
		Runner: runner.New(runner.Config{Runs: filepath.Join(state, "runs"), Homes: filepath.Join(state, "homes"),
			Socket: filepath.Join(state, "sock"), Self: filepath.Join(home, "nowhere")}),
		Executor:       tools,
		FindClaude:     func(context.Context) (string, error) { return "/nowhere/claude", nil },
		CheckDirectory: func(path string) (string, error) { return path, nil },
		Worktrees:      trees, WorktreeRoot: filepath.Join(home, "trees"),
		Policies: map[turn.Profile]Policy{turn.DirectWrite: AskOnce, turn.WorktreeWrite: Notify},
		Log:      slog.New(slog.DiscardHandler),
	}
	w.open()
	t.Cleanup(func() {
		broken, err := w.CheckLedger(context.Background())
		if err = errors.Join(append(broken, err)...); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// open starts an engine over what is there.
func (w *world) open() {
	w.t.Helper()
	var err error
	w.Engine, err = New(w.t.Context(), w.cfg)
	w.must(err)
}

// again ends the engine and starts the next one.
func (w *world) again() {
	w.t.Helper()
	w.must(w.Close())
	w.open()
}

func (w *world) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", w.repo}, args...)...)
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com"}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (w *world) key() turn.Key {
	w.keys++
	return turn.Key(fmt.Sprintf("key-of-the-test-%04d", w.keys))
}

// worktreeSession starts a session, whose worktree is made and whose run has
// failed when it returns.
func (w *world) worktreeSession() Snapshot {
	w.t.Helper()
	s, err := w.Start(w.t.Context(), StartRequest{Prompt: "write", WorkingDirectory: w.repo, IdempotencyKey: w.key(),
		Profile: turn.WorktreeWrite, SubagentPolicy: turn.NoSubagent, Wait: awaitRun})
	w.must(err)
	if s.Status != turn.Failed || s.LaunchError == nil || s.LaunchError.Code != turn.LaunchFailed {
		w.t.Fatalf("started: %s, %+v", s.Status, s.LaunchError)
	}
	return s
}

// goOn continues a session and waits until its run has failed.
func (w *world) goOn(s Snapshot) (Snapshot, error) {
	return w.Continue(w.t.Context(), ContinueRequest{Session: s.SessionID, Lease: *s.LeaseID, Prompt: "go on", IdempotencyKey: w.key(), Wait: awaitRun})
}

// refused checks that err is a refusal with a code.
func refused(t *testing.T, err error, code turn.Code) *turn.Refusal {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if !ok || r.Code != code {
		t.Fatalf("not refused with %s: %v", code, err)
	}
	return r
}

// events are those of a session.
func (w *world) events(id turn.SessionID) []turn.Event {
	w.t.Helper()
	events, err := w.Events(w.t.Context(), 0, id, 100_000)
	w.must(err)
	return events
}
