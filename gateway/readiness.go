package gateway

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"deckhand/gateway/admin"
	"deckhand/gateway/runner"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// retestAfter is how soon a failed self-test is tried again when somebody
// wants to start a run, so that a cure works without a restart.
const retestAfter = 5 * time.Second

// mechanisms names what confines a process on each system, for a person.
var mechanisms = map[string]string{"linux": "bubblewrap", "darwin": "Seatbelt"}

// readiness knows whether a run can be started on this machine now.
type readiness struct {
	cfg  Config
	test func(context.Context) (*sandbox.Launcher, error)

	mu     sync.Mutex
	box    *sandbox.Launcher // of the last test, nil if it failed; guarded by mu
	tested time.Time         // guarded by mu
	failed error             // of the last test; guarded by mu

	finding sync.Mutex
	found   runner.Claude // guarded by finding
	of      os.FileInfo   // found.Path as it was then; guarded by finding
}

func newReadiness(cfg Config) *readiness {
	return &readiness{cfg: cfg, test: func(ctx context.Context) (*sandbox.Launcher, error) {
		launcher, err := sandbox.Find(sandbox.Config{Self: cfg.Self, Bubblewrap: cfg.Bubblewrap})
		if err != nil {
			return nil, err
		}
		return launcher, launcher.SelfTest(ctx)
	}}
}

// claude returns the Claude Code to run, once the sandbox has proved itself.
// It refuses with sandbox_unavailable or claude_not_found.
func (r *readiness) claude(ctx context.Context) (string, error) {
	if err := r.confines(ctx); err != nil {
		return "", err
	}
	found, err := r.find()
	return found.Path, err
}

// find looks for Claude Code. What was found stays found until the file
// changes: asking a binary for its version takes a while.
func (r *readiness) find() (runner.Claude, error) {
	r.finding.Lock()
	defer r.finding.Unlock()
	if r.of != nil {
		info, err := os.Stat(r.found.Path)
		if err == nil && os.SameFile(info, r.of) && info.ModTime().Equal(r.of.ModTime()) && info.Size() == r.of.Size() {
			return r.found, nil
		}
	}
	found, err := runner.FindClaude(runner.FindConfig{
		Path: r.cfg.Claude, Data: r.cfg.StateDir, Home: r.cfg.Home, Search: r.cfg.Search})
	if err != nil {
		return runner.Claude{}, err
	}
	info, err := os.Stat(found.Path)
	if err != nil {
		return runner.Claude{}, turn.RefuseFor(turn.ClaudeNotFound, err, "Claude Code is gone again")
	}
	r.found, r.of = found, info
	return found, nil
}

// confines says whether the sandbox has proved itself, as launcher does.
func (r *readiness) confines(ctx context.Context) error {
	_, err := r.launcher(ctx)
	return err
}

// launcher runs the self-test once, and again after a failure, and returns the
// sandbox that passed it. Callers wait for a test under way.
func (r *readiness) launcher(ctx context.Context) (*sandbox.Launcher, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.tested.IsZero() && (r.failed == nil || time.Since(r.tested) < retestAfter) {
		return r.box, r.failed
	}
	box, err := r.test(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.tested, r.box, r.failed = time.Now(), box, err
	if _, ok := errors.AsType[*turn.Refusal](err); err != nil && !ok {
		r.failed = turn.RefuseFor(turn.SandboxUnavailable, err, "the self-test of the sandbox failed; deckhand doctor says more")
	}
	if r.failed != nil {
		r.box = nil
	}
	return r.box, r.failed
}

// report says what is found, for a person.
func (r *readiness) report(ctx context.Context) (admin.Claude, admin.Sandbox, []string) {
	warnings := []string{}
	box := admin.Sandbox{OK: true, Kind: mechanisms[runtime.GOOS]}
	if err := r.confines(ctx); err != nil {
		box.OK, box.Detail = false, publicText(err)
		warnings = append(warnings, "No session can start: "+box.Detail+".")
	}
	found, err := r.find()
	if err != nil {
		warnings = append(warnings, "No session can start: "+publicText(err)+".")
	}
	return admin.Claude{Path: found.Path, Version: found.Version}, box, warnings
}

// publicText is the sentence of an error that a person may read.
func publicText(err error) string {
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Detail != "" {
		return refusal.Detail
	}
	return "the log says why"
}
