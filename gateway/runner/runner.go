package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// Config says where runs live and what starts them. Paths are absolute.
type Config struct {
	// Runs holds the run directories, Homes the sessions' homes. They are made
	// if missing, and must not lie one inside the other.
	Runs, Homes string
	// Socket is the path that the gateway gave to link.Listen.
	Socket string
	// Self is the deckhand binary.
	Self string
	// Bubblewrap is the path of bwrap; "" looks it up.
	Bubblewrap string
	// ShortWaits leaves out the settings that let Claude Code wait for hours,
	// and ExtraEnv sets variables of its environment: tests make it lose patience.
	ShortWaits bool
	ExtraEnv   []string
	// Log is discarded if nil.
	Log *slog.Logger
}

// Runner starts shims and tells how runs stand. It is safe for use by many
// goroutines, and holds no state: everything is in the file system.
type Runner struct{ cfg Config }

// New makes a runner.
func New(cfg Config) *Runner {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{cfg: cfg}
}

// Prepare makes the run directory and the session's home. Preparing again
// replaces what is there; a run that has a shim is ErrLocked. Errors are a
// *turn.Refusal of code launch_failed.
func (r *Runner) Prepare(s Spec) error {
	if _, err := r.prepare(s); err != nil {
		return turn.RefuseFor(turn.LaunchFailed, fmt.Errorf("prepare run: %w", err), "")
	}
	return nil
}

// prepare returns the run directory by its real path, which the sandbox wants.
func (r *Runner) prepare(s Spec) (Dir, error) {
	runs, err := privateDir(r.cfg.Runs)
	if err != nil {
		return "", err
	}
	homes, err := privateDir(r.cfg.Homes)
	if err != nil {
		return "", err
	}
	plan := Plan{Spec: s, Protocol: link.Version, Socket: r.cfg.Socket, Home: filepath.Join(homes, homeOf(s.Session)),
		Bubblewrap: r.cfg.Bubblewrap, ShortWaits: r.cfg.ShortWaits, ExtraEnv: r.cfg.ExtraEnv}
	if err := plan.check(); err != nil {
		return "", err
	}
	dir := Dir(filepath.Join(runs, string(s.Run)))
	if locked, err := isLocked(dir); err != nil || locked {
		return "", errors.Join(err, ErrLocked)
	}
	if plan.Resume = r.TranscriptExists(plan.Home, s.ClaudeSession); !plan.Resume {
		if err := removeTranscripts(plan.Home, s.ClaudeSession); err != nil {
			return "", err
		}
	}
	for _, path := range []string{string(dir), dir.WorkingDirectory(), dir.emptyPath(), plan.Home,
		filepath.Join(plan.Home, homeName), filepath.Join(plan.Home, configName), filepath.Join(plan.Home, tmpName)} {
		if _, err := privateDir(path); err != nil {
			return "", err
		}
	}
	if err := atomicfile.WriteFile(dir.toolServers(), []byte(toolServers), 0o600); err != nil {
		return "", err
	}
	return dir, plan.write(dir)
}

// Alive reports whether the run has a shim: whether its lock is held.
func (r *Runner) Alive(run turn.RunID) (bool, error) {
	alive, err := isLocked(r.Dir(run))
	if err != nil {
		return false, fmt.Errorf("look at run %s: %w", run, err)
	}
	return alive, nil
}

// Exit returns how the run ended. The second result is false if its shim has
// not written that, because it lives or because it was killed.
func (r *Runner) Exit(run turn.RunID) (link.Exit, bool, error) {
	raw, err := os.ReadFile(r.Dir(run).file(exitName))
	if errors.Is(err, fs.ErrNotExist) {
		return link.Exit{}, false, nil
	}
	if err != nil {
		return link.Exit{}, false, fmt.Errorf("read exit record: %w", err)
	}
	var e link.Exit
	if err := jsonv2.Unmarshal(raw, &e); err != nil {
		return link.Exit{}, false, fmt.Errorf("decode exit record of %s: %w", run, err)
	}
	if e.Run != run {
		return link.Exit{}, false, fmt.Errorf("exit record of %s is of run %s", run, e.Run)
	}
	return e, true, nil
}

// Remove deletes the run directory with everything in it. It is for a settled
// run: its shim may be about to end, and needs the directory no more. What is
// not there is removed already.
func (r *Runner) Remove(run turn.RunID) error {
	if !runForm.MatchString(string(run)) {
		return fmt.Errorf("remove run: %q is not a run id", run)
	}
	if err := os.RemoveAll(string(r.Dir(run))); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return nil
}

// Runs lists the runs that have a directory, for the pass at start.
func (r *Runner) Runs() ([]turn.RunID, error) {
	entries, err := os.ReadDir(r.cfg.Runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []turn.RunID
	for _, e := range entries {
		if e.IsDir() && runForm.MatchString(e.Name()) {
			runs = append(runs, turn.RunID(e.Name()))
		}
	}
	return runs, nil
}

// WriteExit puts a run's exit record into its directory, whole or not at all.
// It is the shim's last act before it lets go of the lock.
func WriteExit(dir Dir, e link.Exit) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode exit record: %w", err)
	}
	return atomicfile.WriteFile(dir.file(exitName), raw, 0o600)
}
