package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// Limits are what a user may change. Zero fields take the defaults.
type Limits struct {
	// LeaseFor is how long a lease lasts after each continue and reply; 2 h.
	LeaseFor time.Duration
	// MaxLive is how many sessions may have a run at once; 8.
	MaxLive int
	// TurnBudget is how many bytes of results a pending turn carries, shared
	// fairly; 72 KiB, at most turn.MaxTurnBudget.
	TurnBudget int
}

func (l Limits) withDefaults() Limits {
	if l.LeaseFor == 0 {
		l.LeaseFor = 2 * time.Hour
	}
	if l.MaxLive == 0 {
		l.MaxLive = 8
	}
	if l.TurnBudget == 0 {
		l.TurnBudget = turn.DefaultTurnBudget
	}
	l.TurnBudget = min(l.TurnBudget, turn.MaxTurnBudget)
	return l
}

// Config is what an Engine stands on. Every field but Limits and Retention is
// required.
type Config struct {
	// OpenLedger opens the ledger with the given OnCommit.
	OpenLedger func(onCommit func(turn.SessionID)) (*ledger.Ledger, error)
	// Key is the file of the key of tokens. It is made with the ledger; a ledger
	// with sessions and no key is an error.
	Key      string
	Runner   *runner.Runner
	Executor *executor.Executor
	// FindClaude returns the Claude Code to run, or claude_not_found.
	FindClaude func(context.Context) (string, error)
	// CheckDirectory resolves a working directory to its real path or refuses
	// it. It is a function so that the rules stand in one place, with the
	// protected paths.
	CheckDirectory func(path string) (string, error)
	// Worktrees makes and keeps the worktrees, below WorktreeRoot.
	Worktrees    *worktree.Keeper
	WorktreeRoot string
	// Policies are the user's; a profile that is missing has its default.
	Policies map[turn.Profile]Policy
	Limits   Limits
	// Retention says what is removed at the start and once a day; nil removes
	// nothing. Caches is the folder of what commands write, a folder a session.
	Retention *Retention
	Caches    string
	Log       *slog.Logger
}

// Engine drives every session. Its methods may be called concurrently.
type Engine struct {
	Reader
	cfg  Config
	hub  *hub
	life context.Context // ends when the engine closes; runs outlive it
	end  context.CancelCauseFunc
	work sync.WaitGroup // the engine's own goroutines
	// actions are the goroutines of actions under way. Close waits for them
	// only as long as their runs do: one may hang in a file system for good.
	actions sync.WaitGroup

	// folders is held shared while a run's home is prepared, and alone while a
	// folder of a session without a run is taken away.
	folders sync.RWMutex

	// mu guards lives. See the package comment for the lock order.
	mu     sync.Mutex
	lives  map[turn.RunID]*live
	closed bool
}

// errClosing is the cause that ends waits when the engine closes.
var errClosing = &turn.Refusal{Code: turn.ShuttingDown}

// New opens the ledger and settles what the last gateway left: a run whose
// shim is alive goes on, any other is closed. Close must be called.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	cfg.Limits = cfg.Limits.withDefaults()
	h := newHub()
	l, err := cfg.OpenLedger(h.publish)
	if err != nil {
		return nil, err
	}
	secret, err := openSecret(cfg.Key, l)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	e := &Engine{Reader: Reader{ledger: l, secret: secret, tools: toolsOf(cfg.Executor), limits: cfg.Limits},
		cfg: cfg, hub: h, lives: map[turn.RunID]*live{}}
	e.Reader.attached = e.isAttached
	e.Reader.produced = e.producedBy
	e.life, e.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := e.settleAll(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.work.Go(e.sweepLeases)
	if cfg.Retention != nil {
		e.work.Go(e.sweepDaily)
	}
	return e, nil
}

// Close stops all waiting and working and closes the ledger. Runs stay alive:
// their shims wait for the next gateway. A read under way is given up and
// begins again when its shim asks the next gateway for it; a command is ended,
// and its receipt says so.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end(errClosing)
	e.work.Wait()
	return e.ledger.Close()
}

// EndWaits makes every call that waits answer now, and refuses new work, so
// that the servers in front of the engine can end before it closes.
func (e *Engine) EndWaits() { e.end(errClosing) }

// add starts the goroutine of a run. It returns nil if the engine is closing
// or the run has one already.
func (e *Engine) add(run turn.RunID, id turn.SessionID, handle *runner.Handle) *live {
	v := newLive(e, run, id, handle)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.lives[run] != nil {
		return nil
	}
	e.lives[run] = v
	e.work.Go(func() {
		v.loop()
		e.mu.Lock()
		delete(e.lives, run)
		e.mu.Unlock()
	})
	return v
}

// liveOf returns the goroutine of a run, or nil if the run has none.
func (e *Engine) liveOf(run turn.RunID) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lives[run]
}

// sweepRetry is how long the sweep waits after it failed, on a full disk for
// example.
const sweepRetry = 5 * time.Second

// endLeases ends what is due and returns when to look again.
func (e *Engine) endLeases() (time.Time, error) {
	if _, err := e.ledger.ExpireDue(); err != nil {
		return time.Time{}, err
	}
	return e.ledger.NextDue()
}

// sweepLeases ends leases when they pass. Timers stand still while a machine
// sleeps and leases do not, so it looks at the wall clock at least every
// half minute while there is a lease to watch.
func (e *Engine) sweepLeases() {
	for {
		changed := e.hub.anyChange()
		next, err := e.endLeases()
		var timer <-chan time.Time
		switch {
		case err != nil:
			e.cfg.Log.Error("end leases", "err", err)
			changed, timer = nil, time.After(sweepRetry)
		case !next.IsZero():
			timer = time.After(min(max(time.Until(next), 0)+time.Millisecond, 30*time.Second))
		}
		select {
		case <-timer:
		case <-changed:
		case <-e.life.Done():
			return
		}
	}
}
