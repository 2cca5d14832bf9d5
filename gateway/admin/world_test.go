package admin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// engine is a Backend in memory. The real one is wired in the tests over the
// whole program; here the wire between client and server is what counts.
type engine struct {
	mu      sync.Mutex
	states  map[turn.SessionID]session.Snapshot
	events  []turn.Event
	changed chan struct{}
	// waiting gets a value each time a caller begins to wait.
	waiting chan struct{}
	fault   error
	// switches are as the last call left them.
	switches turn.Switches
	// patch is written piece by piece, and then patchFault is the error.
	patch      []string
	patchFault error
	// asked are the calls that change something, with their arguments.
	asked []string
}

func newEngine() *engine {
	label := "shop"
	return &engine{
		changed: make(chan struct{}),
		waiting: make(chan struct{}, 100),
		states: map[turn.SessionID]session.Snapshot{
			"ses_one": {SessionID: "ses_one", Label: &label, Status: turn.Idle, Skills: []session.SkillMark{}},
		},
	}
}

func (e *engine) add(ids ...turn.SessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range ids {
		e.events = append(e.events, turn.Event{Seq: uint64(len(e.events) + 1), Session: id, Kind: "test"})
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *engine) Switches(context.Context) (turn.Switches, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.switches, nil
}

func (e *engine) Flip(_ context.Context, which turn.Switch, on bool) (turn.Switches, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.switches.With(which, on)
	if err == nil {
		e.switches = s
	}
	return s, err
}

func (e *engine) List(context.Context) ([]session.Summary, error) {
	if e.fault != nil {
		return nil, e.fault
	}
	return []session.Summary{{SessionID: "ses_one", Label: "shop", Status: turn.Idle}}, nil
}

func (e *engine) Inspect(_ context.Context, id turn.SessionID) (session.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.states[id]
	if !ok {
		return s, turn.Refuse(turn.UnknownSession, "no session %s", id)
	}
	return s, nil
}

func (e *engine) StopByUser(ctx context.Context, id turn.SessionID, reason string) (session.Snapshot, error) {
	s, err := e.Inspect(ctx, id)
	if err != nil {
		return s, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Status, s.StopRequest = turn.Stopped, &session.StopMark{Reason: reason, By: "user"}
	e.states[id] = s
	return s, nil
}

func (e *engine) ask(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, fmt.Sprintf(format, args...))
}

func (e *engine) Waiting(context.Context) ([]session.Waiting, error) {
	return []session.Waiting{{SessionID: "ses_one", Generation: 2, Folder: "/src", Prompt: "do\nit"}}, nil
}

func (e *engine) Approve(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	e.ask("approve %s %d", id, generation)
	return e.Inspect(ctx, id)
}

func (e *engine) Deny(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	e.ask("deny %s %d", id, generation)
	return e.Inspect(ctx, id)
}

func (e *engine) Writes(_ context.Context, id turn.SessionID) ([]session.Write, error) {
	return []session.Write{{ActionID: "act_one", RunID: "run_one", Name: "Write", Path: "/of/" + string(id)}}, e.fault
}

func (e *engine) FindWrites(_ context.Context, prefix string, limit int) ([]session.Write, error) {
	return []session.Write{{ActionID: turn.ActionID(prefix), Name: strconv.Itoa(limit)}}, nil
}

func (e *engine) UndoAction(_ context.Context, id turn.ActionID, dryRun bool) (session.UndoReport, error) {
	e.ask("undo %s %t", id, dryRun)
	return session.UndoReport{DryRun: dryRun, Undone: []session.UndoStep{{ActionID: id, Name: "Write", Path: "/a", Text: "done"}},
		Conflicts: []session.UndoStep{}}, nil
}

func (e *engine) UndoSession(_ context.Context, id turn.SessionID, dryRun bool) (session.UndoReport, error) {
	e.ask("undo %s %t", id, dryRun)
	return session.UndoReport{DryRun: dryRun, Undone: []session.UndoStep{},
		Conflicts: []session.UndoStep{{ActionID: "act_one", Text: "changed"}}}, nil
}

func (e *engine) Worktrees(context.Context) ([]session.Worktree, error) {
	return []session.Worktree{{SessionID: "ses_one", Path: "/trees/one", Files: 2, Problem: "moved"}}, nil
}

func (e *engine) WorktreeDiff(_ context.Context, id turn.SessionID, maxDiff int) (session.WorktreeDiff, error) {
	return session.WorktreeDiff{Files: []session.WorktreeFile{{Path: string(id), Added: maxDiff}}, Skipped: []session.WorktreeNote{}}, nil
}

func (e *engine) WorktreePatch(_ context.Context, _ turn.SessionID, w io.Writer) error {
	for _, piece := range e.patch {
		if _, err := io.WriteString(w, piece); err != nil {
			return err
		}
	}
	return e.patchFault
}

func (e *engine) ApplyWorktree(_ context.Context, id turn.SessionID, dryRun bool) (session.WorktreeApply, error) {
	e.ask("apply %s %t", id, dryRun)
	return session.WorktreeApply{DryRun: dryRun, Source: "/src", Conflicts: []session.WorktreeNote{{Path: "a", Reason: "r"}}}, nil
}

func (e *engine) CommitWorktree(_ context.Context, id turn.SessionID, message string) (session.WorktreeCommit, error) {
	e.ask("commit %s %q", id, message)
	return session.WorktreeCommit{Branch: "deckhand/" + string(id), Commit: "c0ffee"}, nil
}

func (e *engine) RemoveWorktree(_ context.Context, id turn.SessionID, force bool) error {
	e.ask("remove %s %t", id, force)
	if !force {
		return turn.Refuse(turn.WorktreeNotClean, "1 change is not committed")
	}
	return nil
}

func (e *engine) Actions(_ context.Context, id turn.SessionID) ([]session.Action, error) {
	return []session.Action{{ActionID: "act_one", RunID: "run_one", Name: "Read", Arguments: `{"a":"<&\u001b"}` + string(id), Bytes: 99, Truncated: true}}, nil
}

func (e *engine) Trusts(context.Context) ([]session.Trust, error) {
	return []session.Trust{{Profile: turn.DirectWrite, Folder: "/srv/a b", Since: time.Unix(1e9, 0).UTC()}}, nil
}

func (e *engine) RevokeTrust(ctx context.Context, folder string) ([]session.Trust, error) {
	e.ask("revoke %q", folder)
	if folder == "/nowhere" {
		return nil, turn.Refuse(turn.NotTrusted, "%s is not a trusted folder", folder)
	}
	return e.Trusts(ctx)
}

func (e *engine) RevokeAllTrust(ctx context.Context) ([]session.Trust, error) {
	e.ask("revoke all")
	return e.Trusts(ctx)
}

func (e *engine) RecoveryToken(_ context.Context, id turn.SessionID) (string, error) {
	return "token of " + string(id), nil
}

func (e *engine) Events(_ context.Context, after uint64, id turn.SessionID, limit int) ([]turn.Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []turn.Event
	for _, ev := range e.events {
		if ev.Seq > after && (id == "" || ev.Session == id) && len(found) < limit {
			found = append(found, ev)
		}
	}
	return found, nil
}

func (e *engine) WaitEvents(ctx context.Context, after uint64) error {
	for {
		e.mu.Lock()
		newer, changed := uint64(len(e.events)) > after, e.changed
		e.mu.Unlock()
		if newer {
			return nil
		}
		e.waiting <- struct{}{}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type surroundings struct {
	mu    sync.Mutex
	token string
	quits int
}

func (g *surroundings) Status(context.Context) (Status, error) {
	return Status{Version: "0.1.0", PID: 42, LocalAddress: "127.0.0.1:7341", Connector: "none",
		Warnings: []string{"w"}, Sandbox: Sandbox{OK: true, Kind: "bubblewrap"}}, nil
}

func (g *surroundings) LocalToken() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.token
}

func (g *surroundings) Greet() bool { return true }

func (g *surroundings) Quit() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.quits++
}

func (g *surroundings) RotateLocalToken() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.token += "+"
	return g.token, nil
}

// world is a gateway's admin socket and a client of it.
type world struct {
	state  string
	engine *engine
	log    *bytes.Buffer
	client *Client
	stop   func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{state: t.TempDir(), engine: newEngine(), log: &bytes.Buffer{}}
	if err := os.Mkdir(filepath.Join(w.state, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	secret, err := TokenPath(w.state).Rotate()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := NewServer(w.engine, &surroundings{token: "local-secret"}, secret, log)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := Listen(w.state)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(w.stop)
	if w.client, err = NewClient(w.state); err != nil {
		t.Fatal(err)
	}
	return w
}

func (e *engine) Prune(_ context.Context, targets []session.PruneTarget, dryRun bool) (session.PruneReport, error) {
	e.ask("prune %d %t", len(targets), dryRun)
	return session.PruneReport{DryRun: dryRun, Pruned: targets, Kept: []session.PruneKept{}}, nil
}
