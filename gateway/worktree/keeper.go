package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// Config says what a Keeper needs.
type Config struct {
	// Git is the absolute path of git, or "" for the first one on PATH and in
	// the usual folders.
	Git string
	// Scratch is a directory for temporary files, made with mode 0700. It must
	// not lie in a repository that is worked on.
	Scratch string
	// Home is the user's home directory. What Git's configuration there says of
	// ignored files, line ends and the user's name is followed. "" for none.
	Home string
	// Protected decides what may be read in a worktree and written by Apply.
	Protected *protected.Paths
	// Timeout bounds each call of git. Zero means two minutes.
	Timeout time.Duration
}

// Keeper makes worktrees and takes care of them. It is safe for concurrent
// use, also by several processes that share the scratch directory.
type Keeper struct {
	run       *runner
	scratch   string
	home      string
	protected *protected.Paths
	// step is called after each step of Create, Apply, Commit and Remove, under
	// a name. An error ends the call there, as a crash would.
	step func(name string) error
}

// folders are where git is if it is not on PATH: a program that launchd
// started has almost none.
var folders = []string{"/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/bin"}

// Oldest git that has all that is used here: merge-tree --write-tree.
const (
	oldestMajor = 2
	oldestMinor = 38
)

var versionPattern = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// New finds git and checks its version. It returns a *turn.Refusal with the
// code GitUnavailable if there is none that can be used.
func New(ctx context.Context, cfg Config) (*Keeper, error) {
	if !filepath.IsAbs(cfg.Scratch) {
		return nil, fmt.Errorf("open worktrees: the scratch directory %q is not absolute", cfg.Scratch)
	}
	if cfg.Protected == nil {
		return nil, errors.New("open worktrees: the rules about protected paths are missing")
	}
	if err := os.MkdirAll(filepath.Join(cfg.Scratch, "empty"), 0o700); err != nil {
		return nil, fmt.Errorf("open worktrees: %w", err)
	}
	scratch, err := filepath.EvalSymlinks(cfg.Scratch)
	if err != nil {
		return nil, fmt.Errorf("open worktrees: %w", err)
	}
	git := cfg.Git
	if git == "" {
		if git, err = find(); err != nil {
			return nil, turn.RefuseFor(turn.GitUnavailable, err, "Git was not found; it is needed for worktrees")
		}
	}
	if err := sweep(scratch); err != nil {
		return nil, fmt.Errorf("open worktrees: %w", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	k := &Keeper{
		run:     &runner{git: git, empty: filepath.Join(scratch, "empty"), timeout: cfg.Timeout},
		scratch: scratch, home: cfg.Home, protected: cfg.Protected,
		step: func(string) error { return nil },
	}
	out, err := k.run.run(ctx, command{args: []string{"version"}})
	if err != nil {
		return nil, refuse(turn.GitUnavailable, err, "Git cannot be started; it is needed for worktrees")
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return nil, turn.Refuse(turn.GitUnavailable, "the program that should be Git does not say its version")
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return nil, turn.Refuse(turn.GitUnavailable, "Git %d.%d is too old for worktrees; install %d.%d or newer", major, minor, oldestMajor, oldestMinor)
	}
	return k, nil
}

// oldBench is the age from which on a bench is left over from a crash: no call
// takes that long.
const oldBench = 24 * time.Hour

// sweep removes benches that nobody works on any more.
func sweep(scratch string) error {
	benches, err := filepath.Glob(filepath.Join(escapeGlob(scratch), "bench-*"))
	if err != nil {
		return err
	}
	for _, bench := range benches {
		if info, err := os.Lstat(bench); err == nil && time.Since(info.ModTime()) > oldBench {
			if err := os.RemoveAll(bench); err != nil {
				return err
			}
		}
	}
	return nil
}

// find looks for git as a person would.
func find() (string, error) {
	if path, err := exec.LookPath("git"); err == nil && filepath.IsAbs(path) {
		return path, nil
	}
	for _, dir := range folders {
		if path, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// errStopped is what step gives to end a call as a crash would: nothing is
// taken back.
var errStopped = errors.New("stopped as by a crash")
