package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// Config is everything a gateway is made from. Fields without a default are
// required.
type Config struct {
	// StateDir is absolute. It is made (0700) if it is missing, and refused if
	// it is somebody else's or open to others.
	StateDir string
	// Home is the user's home directory.
	Home string
	// LocalAddr and ConnectorAddr are host:port of the two listeners; the host
	// has to be a loopback address, port 0 takes a free one.
	LocalAddr, ConnectorAddr string
	// Self is the absolute path of the deckhand binary, which is also the shim
	// and the stage inside the sandbox.
	Self string
	// Claude is the Claude Code to run; "" looks it up.
	Claude string
	// ClaudeEnv and ShortWaits are for tests of the waits of Claude Code itself:
	// ClaudeEnv is added to its environment, and ShortWaits leaves out the
	// settings that make it wait for hours.
	ClaudeEnv  []string
	ShortWaits bool
	// Bubblewrap is the bwrap to use on Linux; "" looks it up.
	Bubblewrap string
	// Version is shown to clients.
	Version string
	// LeaseDuration, MaxLive and TurnBudget are session.Limits; zero is their
	// default.
	LeaseDuration time.Duration
	MaxLive       int
	TurnBudget    int
	// MaxWait cuts wait_seconds; zero is control's default.
	MaxWait time.Duration
	// RefuseDiscover answers server/discover with -32601.
	RefuseDiscover bool
	// WorktreeRoot is where the worktrees of sessions are made: absolute, without
	// blanks, and not in the state directory, which is hidden from sessions.
	WorktreeRoot string
	// CacheDir is where commands of sessions may write, each session in a folder
	// of its own: absolute and without blanks.
	CacheDir string
	// Retention says how long what piles up is kept; nil keeps everything.
	Retention *session.Retention
	// Environ are the variables of this process. What commands get of them is
	// decided in package command.
	Environ map[string]string
	// Approvals are the user's policies; a profile that is missing has its
	// default.
	Approvals map[turn.Profile]session.Policy
	// PublicHosts are Host names under which the connector's listener is
	// reached from outside.
	PublicHosts []string
	// Hidden and ReadOnly are the user's additions to the protected paths.
	Hidden, ReadOnly []string
	// Own and Search are protected from writing: the user's config and binaries,
	// and the directories of PATH.
	Own, Search []string
	// OnGreet is called when another start of the app wants this one to be
	// noticed; nil if there is nothing to be noticed by. It returns soon.
	OnGreet func()
	Log     *slog.Logger
}

func (c Config) validate() error {
	switch {
	case !filepath.IsAbs(c.StateDir):
		return fmt.Errorf("the state directory %q is not an absolute path", c.StateDir)
	case !filepath.IsAbs(c.Home):
		return fmt.Errorf("the home directory %q is not an absolute path", c.Home)
	case !filepath.IsAbs(c.Self):
		return fmt.Errorf("the path of Deckhand itself, %q, is not absolute", c.Self)
	case !filepath.IsAbs(c.WorktreeRoot) || strings.ContainsAny(c.WorktreeRoot, " \t\n"):
		return fmt.Errorf("the folder for worktrees %q is not an absolute path without blanks", c.WorktreeRoot)
	case !filepath.IsAbs(c.CacheDir) || strings.ContainsAny(c.CacheDir, " \t\n"):
		return fmt.Errorf("the folder for caches of commands %q is not an absolute path without blanks; XDG_CACHE_HOME names another", c.CacheDir)
	case c.Log == nil || c.Version == "":
		return errors.New("log and version are required")
	case c.TurnBudget < 0 || c.TurnBudget > turn.MaxTurnBudget:
		return fmt.Errorf("the budget of a turn, %d bytes, is not between 0 and %d", c.TurnBudget, turn.MaxTurnBudget)
	case c.MaxLive < 0 || c.LeaseDuration < 0:
		return errors.New("limits cannot be negative")
	}
	return nil
}

// places are the paths below a state directory.
type places struct{ state, private string }

func placesOf(stateDir string) places {
	return places{state: stateDir, private: filepath.Join(stateDir, "private")}
}

func (p places) key() string        { return filepath.Join(p.private, "key") }
func (p places) localToken() string { return filepath.Join(p.private, "local-token") }
func (p places) shimSocket() string { return filepath.Join(p.private, "shim.sock") }
func (p places) ledger() string     { return filepath.Join(p.private, "ledger") }
func (p places) runs() string       { return filepath.Join(p.private, "runs") }
func (p places) homes() string      { return filepath.Join(p.private, "homes") }
func (p places) git() string        { return filepath.Join(p.private, "git") }

// make makes the directories and checks that they are ours alone.
func (p places) make() error {
	for _, dir := range []string{p.state, p.private, p.ledger(), p.runs(), p.homes(), p.git()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make state directory: %w", err)
		}
		info, err := os.Lstat(dir)
		if err != nil {
			return fmt.Errorf("check state directory: %w", err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("the state directory %s is not a directory of this user alone (mode %04o); run chmod 700 on it", dir, info.Mode().Perm())
		}
	}
	return nil
}
