package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"deckhand/gateway/command/entry"
	"deckhand/gateway/protected"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// Time limits of a command.
const (
	DefaultTimeout = 120 * time.Second
	MaxTimeout     = 600 * time.Second
)

// drainLimit is how long the pipes may stay open after the tree is gone. They
// are closed with it; it only keeps a command from hanging if something that
// does not belong to the tree should hold one.
const drainLimit = 5 * time.Second

// Config is what commands are run with. Every field is required.
type Config struct {
	// Self is the absolute path of a deckhand binary; its hidden subcommand
	// "environment" is PrintEnvironment.
	Self string
	// Home is the user's home directory.
	Home string
	// Environ are the gateway's own variables. SHELL is asked for PATH and the
	// homes of tools; what else commands get of them stands in environment.go.
	Environ map[string]string
	// Cache is the folder of the session's cache folders, absolute and without
	// blanks, which some tools cannot handle.
	Cache string
	// Protected says what commands may not see.
	Protected *protected.Paths
	// Launcher returns the sandbox once it has proved itself, or refuses with
	// sandbox_unavailable.
	Launcher func(context.Context) (*sandbox.Launcher, error)
	Log      *slog.Logger
}

// Runner runs commands. It is safe for concurrent use.
type Runner struct {
	cfg Config
	// The login shell is asked once, when the first command needs it.
	ask   sync.Once
	asked chan struct{}
	env   *environment // valid once asked is closed

	mu     sync.Mutex
	queues map[turn.SessionID]*queue // of sessions with a command; guarded by mu
}

// queue lets the commands of one session take turns.
type queue struct {
	turn  chan struct{} // holds one entry while a command runs
	users int           // how many run or wait; guarded by Runner.mu
}

// New returns a runner. It touches nothing.
func New(cfg Config) (*Runner, error) {
	switch {
	case !filepath.IsAbs(cfg.Self) || !filepath.IsAbs(cfg.Home) || !filepath.IsAbs(cfg.Cache):
		return nil, fmt.Errorf("make command runner: own binary %q, home %q and cache %q have to be absolute paths", cfg.Self, cfg.Home, cfg.Cache)
	case strings.ContainsAny(cfg.Cache, " \t\n"):
		return nil, fmt.Errorf("make command runner: the path of the cache %q has blanks, which build tools cannot handle", cfg.Cache)
	case cfg.Protected == nil || cfg.Launcher == nil || cfg.Log == nil:
		return nil, errors.New("make command runner: protected paths, launcher and log are required")
	}
	return &Runner{cfg: cfg, asked: make(chan struct{}), queues: map[turn.SessionID]*queue{}}, nil
}

// Call is one command.
type Call struct {
	Session turn.SessionID
	Argv    []string
	// Dir is where it runs: absolute, and after links within Root.
	Dir string
	// Root is the real path of the session's directory.
	Root string
	// Source is the checkout that a worktree was made of, else "".
	Source string
	// Timeout is how long it may run.
	Timeout time.Duration
	// Edits says that the session has tools that change files.
	Edits bool
	// Progress is called as output comes, with what both outputs have brought
	// so far, from one goroutine at a time.
	Progress func(bytes, lines int64)
}

// Check refuses arguments before anything is authorised, with command_refused.
func Check(argv []string) error { return entry.Check(argv) }

// Run runs one command to its end and says how it went. When it returns,
// nothing of the command is left. If ctx ends first the outcome is cancelled,
// and its cause is told.
func (r *Runner) Run(ctx context.Context, c Call) turn.Result {
	done, err := r.takeTurn(ctx, c.Session)
	if err != nil {
		return r.failure(ctx, err)
	}
	defer done()
	p, err := r.prepare(ctx, c)
	if err != nil {
		return r.failure(ctx, err)
	}
	return r.run(ctx, c, p)
}

// prepared is a command that is ready to be started.
type prepared struct {
	launcher *sandbox.Launcher
	policy   sandbox.Policy
	command  sandbox.Command
	view     *protected.View
	cache    string
}

func (p prepared) tmp() string { return filepath.Join(p.cache, "tmp") }

func (r *Runner) prepare(ctx context.Context, c Call) (prepared, error) {
	p := prepared{view: r.cfg.Protected.View()}
	if err := entry.Check(c.Argv); err != nil {
		return p, err
	}
	dir, err := directory(p.view, c.Dir, c.Root)
	if err != nil {
		return p, err
	}
	if p.launcher, err = r.cfg.Launcher(ctx); err != nil {
		return p, err
	}
	env, err := r.environment(ctx)
	if err != nil {
		return p, err
	}
	path, err := env.program(c.Argv[0], dir)
	if err != nil {
		return p, err
	}
	if err := checkBehindLinks(path); err != nil {
		return p, err
	}
	if p.cache, err = r.cacheFolder(c.Session); err != nil {
		return p, err
	}
	if p.policy, err = r.policy(env, dir, p.cache, c); err != nil {
		return p, err
	}
	p.command = sandbox.Command{Path: path, Args: c.Argv[1:], Env: env.of(p.cache), Dir: dir}
	return p, nil
}

// checkBehindLinks refuses a program that is a link to what no command may begin
// with. What it is called stays what it is: many programs do as they are called.
func checkBehindLinks(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return nil // it was just found to be runnable; the start says what is wrong
	}
	return entry.Check([]string{real})
}

// environment asks the login shell once. Whoever comes while it is asked waits.
func (r *Runner) environment(ctx context.Context) (*environment, error) {
	r.ask.Do(func() {
		go func() {
			defer close(r.asked)
			// Not the caller's context: what comes of it is for all commands.
			login, err := askLogin(context.Background(), r.cfg.Self, r.cfg.Environ["SHELL"], r.cfg.Environ)
			view := r.cfg.Protected.View()
			seen := func(real string) bool { return view.Decide(real, protected.Read).Allowed }
			r.env = newEnvironment(r.cfg.Home, login, r.cfg.Environ, seen)
			if runtime.GOOS == "darwin" {
				r.env.useDeveloperTools("/")
			}
			if err != nil {
				r.env.doubt = err.Error()
				r.cfg.Log.Warn("the login shell could not be asked for PATH; commands use the usual folders", "shell", r.cfg.Environ["SHELL"], "err", err)
			}
		}()
	})
	select {
	case <-r.asked:
		return r.env, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// takeTurn waits until no other command of the session runs, first come, first
// served. done has to be called.
func (r *Runner) takeTurn(ctx context.Context, id turn.SessionID) (done func(), err error) {
	r.mu.Lock()
	q := r.queues[id]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		r.queues[id] = q
	}
	q.users++
	r.mu.Unlock()
	leave := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(r.queues, id)
		}
	}
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// run starts a prepared command, takes its output and waits for its end.
func (r *Runner) run(ctx context.Context, c Call, p prepared) turn.Result {
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimedOut)
	defer cancel()
	o := &outputs{progress: c.Progress}
	var readers sync.WaitGroup
	outEnd, outPipe, err := os.Pipe()
	if err != nil {
		return r.failure(ctx, err)
	}
	defer outEnd.Close()
	errEnd, errPipe, err := os.Pipe()
	if err != nil {
		outPipe.Close()
		return r.failure(ctx, err)
	}
	defer errEnd.Close()
	p.command.Stdout, p.command.Stderr = outPipe, errPipe
	began := time.Now()
	process, err := p.launcher.Start(limited, p.policy, p.command)
	// What is left of these ends is the command's.
	outPipe.Close()
	errPipe.Close()
	if err != nil && !errors.Is(err, errTimedOut) {
		return r.failure(ctx, startError(err, c.Argv[0]))
	}
	e := ending{}
	if err == nil {
		readers.Go(func() { o.take(outEnd, &o.out) })
		readers.Go(func() { o.take(errEnd, &o.err) })
		e.exit = process.Wait()
		for _, end := range []*os.File{outEnd, errEnd} {
			if err := end.SetReadDeadline(time.Now().Add(drainLimit)); err != nil {
				r.cfg.Log.Error("limit the rest of an output", "err", err)
			}
		}
		readers.Wait()
	}
	e.took = time.Since(began)
	if err := touch(p.cache); err != nil {
		r.cfg.Log.Warn("a cache folder looks older than it is", "err", err)
	}
	// A command that ended by itself in the instant before the limit or the
	// stop has ended by itself.
	if e.exit.Signal == "SIGKILL" || err != nil {
		switch {
		case ctx.Err() != nil:
			e.stopped = reason(ctx)
		case limited.Err() != nil:
			e.limit = c.Timeout
		}
	}
	x := explained{goos: runtime.GOOS, argv: c.Argv, dir: p.command.Dir, shown: p.policy.ReadOnly, tmp: p.tmp(), edits: c.Edits, view: p.view, failed: e.exit != sandbox.Exit{}}
	return receipt(e, o, x.explain(o), p.tmp())
}

var errTimedOut = errors.New("the command reached its time limit")

// reason says to a model why a context ended.
func reason(ctx context.Context) string {
	if refusal, ok := errors.AsType[*turn.Refusal](context.Cause(ctx)); ok && refusal.Code == turn.ShuttingDown {
		return "Deckhand was closed"
	}
	return "its session was stopped"
}

// failure makes the result of a command that did not begin.
func (r *Runner) failure(ctx context.Context, err error) turn.Result {
	if ctx.Err() != nil {
		return turn.Result{Outcome: turn.OutcomeCancelled, Code: turn.CancelledCode, Text: "The command did not begin: " + reason(ctx) + "."}
	}
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok {
		r.cfg.Log.Error("run command", "err", err)
		return turn.Failure(turn.InternalError, "The command could not be run; Deckhand's log says why.")
	}
	if refusal.Cause != nil {
		r.cfg.Log.Warn("run command", "code", refusal.Code, "err", refusal.Cause)
	}
	return turn.Failure(refusal.Code, refusal.Detail)
}

// startError says of a program that the sandbox could not start why, as far as
// the system said.
func startError(err error, name string) error {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok || refusal.Code != turn.LaunchFailed || refusal.Cause == nil {
		return err
	}
	said := refusal.Cause.Error()
	if !strings.HasPrefix(said, "start confined command: ") {
		// The policy is at fault, not the program.
		return fmt.Errorf("start command: %w", refusal.Cause)
	}
	why := said[strings.LastIndex(said, ": ")+1:]
	switch {
	case strings.Contains(why, "exec format error"):
		why = "it is no program and names no interpreter in its first line; a script can be given to its interpreter, as in ['sh', FILE]"
	case strings.Contains(why, "permission denied"):
		why = "commands may not run it"
	case strings.Contains(why, "no such file"):
		why = "it, or the interpreter in its first line, is not there for commands"
	}
	return turn.RefuseFor(turn.CommandNotFound, refusal.Cause, "%s could not be started: %s", show(name), strings.TrimSpace(why))
}
