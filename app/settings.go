package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deckhand/gateway/protected"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// Settings are what a user may choose. They come, weakest first, from the
// defaults, the settings file, the environment and the flags.
type Settings struct {
	StateDir   string
	Claude     string
	Bubblewrap string

	Listen          string
	ConnectorListen string
	PublicHosts     []string

	Lease      time.Duration
	MaxLive    int
	TurnBudget int
	MaxWait    time.Duration

	Hidden   []string
	ReadOnly []string

	// Approvals say for each profile whether a person is asked first.
	Approvals map[turn.Profile]session.Policy
	// WorktreeRoot is where the worktrees of sessions are made.
	WorktreeRoot string

	// Retention says how long what piles up is kept.
	Retention session.Retention

	LogLevel slog.Level

	// File is the settings file that was read, "" if there was none.
	File string
	// from says for each key that is not at its default where it was set.
	from map[string]string
}

func defaultSettings(p places) Settings {
	return Settings{
		StateDir:        p.State,
		Listen:          "127.0.0.1:7341",
		ConnectorListen: "127.0.0.1:7342",
		Lease:           2 * time.Hour,
		MaxLive:         8,
		TurnBudget:      turn.DefaultTurnBudget,
		MaxWait:         40 * time.Second,
		Approvals:       defaultApprovals(),
		WorktreeRoot:    p.Worktrees,
		Retention:       session.Retention{Undo: 30 * day, UndoBytes: 2 << 30, Homes: 30 * day, Caches: 7 * day},
		from:            map[string]string{},
	}
}

func defaultApprovals() map[turn.Profile]session.Policy {
	policies := map[turn.Profile]session.Policy{}
	for _, p := range turn.Profiles() {
		policies[p] = session.DefaultPolicy(p)
	}
	return policies
}

// kind says how the value of a setting is written in the settings file.
type kind string

const (
	text   kind = "a string"
	number kind = "a whole number"
	list   kind = "a list of strings"
)

// setting is one line of the table that file, environment, flags and help are
// made of.
type setting struct {
	// key is the name in the file: table and name, joined by a dot.
	key string
	// env is the variable. older is one that works as well, below env.
	env, older string
	// flag is the name of the flag of serve, "" if there is none.
	flag, usage string
	kind        kind
	// set takes the value as text: one for text and number, any for a list.
	set func(*Settings, []string) error
	get func(Settings) string
}

// settings is the table. The state directory is its first line: it is the one
// that every command takes as a flag.
var settings = []setting{
	{key: "state_dir", env: "DECKHAND_STATE_DIR", older: "CLAUDE_TOOLS_STATE_DIR", flag: "state-dir",
		usage: "directory of everything that the gateway keeps", kind: text,
		set: absolutePath(func(s *Settings) *string { return &s.StateDir }),
		get: func(s Settings) string { return s.StateDir }},
	{key: "claude", env: "DECKHAND_CLAUDE", older: "CLAUDE_BIN", flag: "claude",
		usage: "Claude Code binary (default: that of deckhand claude install, then ~/.npm-global/bin/claude, then PATH)", kind: text,
		set: absolutePath(func(s *Settings) *string { return &s.Claude }),
		get: func(s Settings) string { return s.Claude }},
	{key: "bubblewrap", env: "DECKHAND_BUBBLEWRAP",
		kind: text,
		set:  absolutePath(func(s *Settings) *string { return &s.Bubblewrap }),
		get:  func(s Settings) string { return s.Bubblewrap }},
	{key: "listen.local", env: "DECKHAND_LISTEN", flag: "listen",
		usage: "address for clients on this machine, on the loopback", kind: text,
		set: loopback(func(s *Settings) *string { return &s.Listen }),
		get: func(s Settings) string { return s.Listen }},
	{key: "listen.connector", env: "DECKHAND_CONNECTOR_LISTEN", flag: "connector-listen",
		usage: "address where ChatGPT's way in ends, on the loopback", kind: text,
		set: loopback(func(s *Settings) *string { return &s.ConnectorListen }),
		get: func(s Settings) string { return s.ConnectorListen }},
	{key: "listen.public_hosts", env: "DECKHAND_PUBLIC_HOSTS",
		kind: list,
		set: func(s *Settings, v []string) error {
			s.PublicHosts = v
			return nil
		},
		get: func(s Settings) string { return strings.Join(s.PublicHosts, ",") }},
	{key: "session.lease", env: "DECKHAND_LEASE", flag: "lease",
		usage: "how long ChatGPT may leave a session unanswered", kind: text,
		set: span(func(s *Settings) *time.Duration { return &s.Lease }, time.Second, 24*time.Hour),
		get: func(s Settings) string { return s.Lease.String() }},
	{key: "session.max_live", env: "DECKHAND_MAX_LIVE",
		kind: number,
		set:  count(func(s *Settings) *int { return &s.MaxLive }, 1, 64),
		get:  func(s Settings) string { return strconv.Itoa(s.MaxLive) }},
	{key: "session.turn_budget_bytes", env: "DECKHAND_TURN_BUDGET_BYTES",
		kind: number,
		set:  count(func(s *Settings) *int { return &s.TurnBudget }, 8<<10, turn.MaxTurnBudget),
		get:  func(s Settings) string { return strconv.Itoa(s.TurnBudget) }},
	{key: "session.max_wait", env: "DECKHAND_MAX_WAIT",
		kind: text,
		set:  span(func(s *Settings) *time.Duration { return &s.MaxWait }, time.Second, 50*time.Second),
		get:  func(s Settings) string { return s.MaxWait.String() }},
	{key: "protected.hidden", env: "DECKHAND_HIDDEN",
		kind: list,
		set:  patterns(func(s *Settings) *[]string { return &s.Hidden }),
		get:  func(s Settings) string { return strings.Join(s.Hidden, string(filepath.ListSeparator)) }},
	{key: "protected.read_only", env: "DECKHAND_READ_ONLY",
		kind: list,
		set:  patterns(func(s *Settings) *[]string { return &s.ReadOnly }),
		get:  func(s Settings) string { return strings.Join(s.ReadOnly, string(filepath.ListSeparator)) }},
	approval(turn.DirectWrite, "DECKHAND_APPROVAL_DIRECT_WRITE"),
	approval(turn.WorktreeWrite, "DECKHAND_APPROVAL_WORKTREE_WRITE"),
	approval(turn.ReadOnly, "DECKHAND_APPROVAL_READ_ONLY"),
	{key: "worktrees.root", env: "DECKHAND_WORKTREES",
		kind: text,
		set:  absolutePath(func(s *Settings) *string { return &s.WorktreeRoot }),
		get:  func(s Settings) string { return s.WorktreeRoot }},
	{key: "retention.undo", env: "DECKHAND_KEEP_UNDO",
		kind: text,
		set:  days(func(s *Settings) *time.Duration { return &s.Retention.Undo }),
		get:  func(s Settings) string { return age(s.Retention.Undo) }},
	{key: "retention.undo_mib", env: "DECKHAND_KEEP_UNDO_MIB",
		kind: number,
		set: func(s *Settings, v []string) error {
			var mib int
			err := count(func(*Settings) *int { return &mib }, 1, 1<<20)(s, v)
			s.Retention.UndoBytes = int64(mib) << 20
			return err
		},
		get: func(s Settings) string { return strconv.FormatInt(s.Retention.UndoBytes>>20, 10) }},
	{key: "retention.claude_homes", env: "DECKHAND_KEEP_CLAUDE_HOMES",
		kind: text,
		set:  days(func(s *Settings) *time.Duration { return &s.Retention.Homes }),
		get:  func(s Settings) string { return age(s.Retention.Homes) }},
	{key: "retention.command_caches", env: "DECKHAND_KEEP_COMMAND_CACHES",
		kind: text,
		set:  days(func(s *Settings) *time.Duration { return &s.Retention.Caches }),
		get:  func(s Settings) string { return age(s.Retention.Caches) }},
	{key: "log.level", env: "DECKHAND_LOG_LEVEL", flag: "log-level",
		usage: "debug, info, warn or error", kind: text,
		set: func(s *Settings, v []string) error {
			if err := s.LogLevel.UnmarshalText([]byte(v[0])); err != nil {
				return fmt.Errorf("%q is none of debug, info, warn and error", v[0])
			}
			return nil
		},
		get: func(s Settings) string { return strings.ToLower(s.LogLevel.String()) }},
}

// approval is the setting of one profile's policy.
func approval(profile turn.Profile, env string) setting {
	return setting{key: "approval." + string(profile), env: env, kind: text,
		set: func(s *Settings, v []string) error {
			policy := session.Policy(v[0])
			if !policy.Valid() {
				return fmt.Errorf("%q is none of ask_once, ask, notify and deny", v[0])
			}
			s.Approvals[profile] = policy
			return nil
		},
		get: func(s Settings) string { return string(s.Approvals[profile]) }}
}

// separator is what stands between the values of a list in the environment:
// that of the system for paths, a comma for names.
func (s setting) separator() string {
	if strings.HasPrefix(s.key, "protected.") {
		return string(filepath.ListSeparator)
	}
	return ","
}

// apply sets a value and remembers where it came from.
func (s setting) apply(to *Settings, values []string, from string) error {
	if err := s.set(to, values); err != nil {
		return err
	}
	to.from[s.key] = from
	return nil
}

// validate checks what no single setting can.
func (s Settings) validate() error {
	if s.StateDir == "" {
		return usageError{errNoHome}
	}
	_, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return usagef("listen.local: %w", err)
	}
	if s.Listen == s.ConnectorListen && port != "0" {
		return usagef("listen.local and listen.connector are both %s: they have to differ, because they ask for different credentials", s.Listen)
	}
	if strings.ContainsAny(s.WorktreeRoot, " \t\n") {
		return usagef("worktrees.root %q holds blanks, which many build tools cannot bear; name another folder", s.WorktreeRoot)
	}
	if within(s.WorktreeRoot, s.StateDir) {
		return usagef("worktrees.root (%s) lies in the state directory, which no session may see", s.WorktreeRoot)
	}
	if s.MaxWait > s.Lease {
		return usagef("session.max_wait (%s) is longer than session.lease (%s)", s.MaxWait, s.Lease)
	}
	return nil
}

// within reports whether path is dir or lies below it, by the names alone.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// absolutePath takes a path, or "" for the default.
func absolutePath(field func(*Settings) *string) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		if v[0] == "" {
			*field(s) = ""
			return nil
		}
		if !filepath.IsAbs(v[0]) {
			return fmt.Errorf("%q is not an absolute path", v[0])
		}
		*field(s) = filepath.Clean(v[0])
		return nil
	}
}

// patterns takes what package protected takes.
func patterns(field func(*Settings) *[]string) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		paths := make([]string, len(v))
		for i, p := range v {
			if err := protected.CheckPattern(p); err != nil {
				return err
			}
			paths[i] = filepath.Clean(p)
		}
		*field(s) = paths
		return nil
	}
}

// loopback takes host:port with an address that no other machine can reach.
func loopback(field func(*Settings) *string) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		at, err := netip.ParseAddrPort(v[0])
		if err != nil {
			return fmt.Errorf("%q is not an address like 127.0.0.1:7341", v[0])
		}
		if !at.Addr().IsLoopback() {
			return fmt.Errorf("%q would let other machines in; use 127.0.0.1 or [::1]", v[0])
		}
		*field(s) = at.String()
		return nil
	}
}

func span(field func(*Settings) *time.Duration, low, high time.Duration) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		d, err := time.ParseDuration(v[0])
		if err != nil {
			return fmt.Errorf("%q is not a duration like 90s, 30m or 2h", v[0])
		}
		if d < low || d > high {
			return fmt.Errorf("%s is not from %s to %s", d, low, high)
		}
		*field(s) = d
		return nil
	}
}

const day = 24 * time.Hour

// maxAge is the longest that a retention can be.
const maxAge = 3650 * day

// days takes a retention: at least an hour.
func days(field func(*Settings) *time.Duration) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		d, err := parseAge(v[0])
		if err != nil {
			return err
		}
		if d < time.Hour || d > maxAge {
			return fmt.Errorf("%s is not from 1h to %s", age(d), age(maxAge))
		}
		*field(s) = d
		return nil
	}
}

// parseAge reads a duration that may be in days.
func parseAge(text string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if whole, err := strconv.ParseUint(n, 10, 16); err == nil {
			return time.Duration(whole) * day, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration like 30d or 12h", text)
	}
	return d, nil
}

// age writes a duration as parseAge reads it.
func age(d time.Duration) string {
	if d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

func count(field func(*Settings) *int, low, high int) func(*Settings, []string) error {
	return func(s *Settings, v []string) error {
		n, err := strconv.Atoi(v[0])
		if errors.Is(err, strconv.ErrSyntax) {
			return fmt.Errorf("%q is not a whole number", v[0])
		}
		if err != nil || n < low || n > high {
			return fmt.Errorf("%s is not from %d to %d", v[0], low, high)
		}
		*field(s) = n
		return nil
	}
}
