package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// settingsFile writes a settings file and returns its path.
func settingsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheStrongerPlaceWins(t *testing.T) {
	file := settingsFile(t, "state_dir = \"/file\"\nclaude = \"/file/claude\"\n[listen]\nlocal = \"127.0.0.1:1001\"\n")
	for _, c := range []struct {
		name             string
		in               inputs
		state, from      string
		claude, fromTool string
	}{
		{"the defaults, with nothing else", inputs{}, "", "", "", ""},
		{"the file over the defaults", inputs{config: file}, "/file", file, "/file/claude", file},
		{"the older variables over the file",
			inputs{config: file, env: map[string]string{"CLAUDE_TOOLS_STATE_DIR": "/old", "CLAUDE_BIN": "/old/claude"}},
			"/old", "CLAUDE_TOOLS_STATE_DIR", "/old/claude", "CLAUDE_BIN"},
		{"our variables over the older ones",
			inputs{config: file, env: map[string]string{"CLAUDE_TOOLS_STATE_DIR": "/old", "DECKHAND_STATE_DIR": "/new",
				"CLAUDE_BIN": "/old/claude", "DECKHAND_CLAUDE": "/new/claude"}},
			"/new", "DECKHAND_STATE_DIR", "/new/claude", "DECKHAND_CLAUDE"},
		{"the flags over everything",
			inputs{config: file, env: map[string]string{"DECKHAND_STATE_DIR": "/new", "DECKHAND_CLAUDE": "/new/claude"},
				flags: map[string]string{"state_dir": "/flag", "claude": "/flag/claude"}},
			"/flag", "--state-dir", "/flag/claude", "--claude"},
		{"an empty variable is none", inputs{config: file, env: map[string]string{"DECKHAND_STATE_DIR": ""}},
			"/file", file, "/file/claude", file},
	} {
		if c.in.env == nil {
			c.in.env = map[string]string{}
		}
		c.in.env["HOME"] = "/home/u"
		s, err := c.in.load()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.state == "" {
			c.state = defaultPlaces("/home/u", func(string) string { return "" }).State
		}
		if s.StateDir != c.state || s.from["state_dir"] != c.from {
			t.Errorf("%s: state_dir = %s from %q, want %s from %q", c.name, s.StateDir, s.from["state_dir"], c.state, c.from)
		}
		if s.Claude != c.claude || s.from["claude"] != c.fromTool {
			t.Errorf("%s: claude = %s from %q, want %s from %q", c.name, s.Claude, s.from["claude"], c.claude, c.fromTool)
		}
	}
}

func TestEverySettingCanBeSetInTheFileAndInTheEnvironment(t *testing.T) {
	want := Settings{
		StateDir: "/s", Claude: "/c", Bubblewrap: "/b", Listen: "127.0.0.1:1", ConnectorListen: "[::1]:2",
		PublicHosts: []string{"a.example", "b.example"}, Lease: 90 * time.Minute, MaxLive: 3, TurnBudget: 10000,
		MaxWait: 25 * time.Second, Hidden: []string{"/h1", "/h2"}, ReadOnly: []string{"/r"}, LogLevel: -4,
		Approvals: map[turn.Profile]session.Policy{turn.DirectWrite: session.Ask, turn.WorktreeWrite: session.DenyAlways,
			turn.ReadOnly: session.AskOnce}, WorktreeRoot: "/w",
		Retention: session.Retention{Undo: 36 * time.Hour, UndoBytes: 5 << 20, Homes: 2 * day, Caches: 3 * day},
	}
	file := settingsFile(t, `
state_dir = "/s"
claude = "/c"
bubblewrap = "/b"
[listen]
local = "127.0.0.1:1"
connector = "[::1]:2"
public_hosts = ["a.example", "b.example"]
[session]
lease = "1h30m"
max_live = 3
turn_budget_bytes = 10_000
max_wait = "25s"
[protected]
hidden = ["/h1",
  "/h2/"]
read_only = ["/r"]
[approval]
direct_write = "ask"
worktree_write = "deny"
read_only = "ask_once"
[worktrees]
root = "/w/"
[retention]
undo = "36h"
undo_mib = 5
claude_homes = "2d"
command_caches = "72h"
[log]
level = "debug"
`)
	env := map[string]string{"DECKHAND_STATE_DIR": "/s", "DECKHAND_CLAUDE": "/c", "DECKHAND_BUBBLEWRAP": "/b",
		"DECKHAND_LISTEN": "127.0.0.1:1", "DECKHAND_CONNECTOR_LISTEN": "[::1]:2",
		"DECKHAND_PUBLIC_HOSTS": "a.example,b.example", "DECKHAND_LEASE": "1h30m", "DECKHAND_MAX_LIVE": "3",
		"DECKHAND_TURN_BUDGET_BYTES": "10000", "DECKHAND_MAX_WAIT": "25s", "DECKHAND_HIDDEN": "/h1:/h2",
		"DECKHAND_READ_ONLY": "/r", "DECKHAND_LOG_LEVEL": "debug", "DECKHAND_APPROVAL_DIRECT_WRITE": "ask",
		"DECKHAND_APPROVAL_WORKTREE_WRITE": "deny", "DECKHAND_APPROVAL_READ_ONLY": "ask_once", "DECKHAND_WORKTREES": "/w",
		"DECKHAND_KEEP_UNDO": "36h", "DECKHAND_KEEP_UNDO_MIB": "5", "DECKHAND_KEEP_CLAUDE_HOMES": "48h", "DECKHAND_KEEP_COMMAND_CACHES": "3d"}
	for name, in := range map[string]inputs{"file": {config: file, env: map[string]string{}}, "environment": {env: env}} {
		got, err := in.load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Settings{}), cmpopts.IgnoreFields(Settings{}, "File")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		for _, def := range settings {
			if got.from[def.key] == "" {
				t.Errorf("%s: this test does not set %s", name, def.key)
			}
		}
	}
}

func TestAWrongSettingIsAnErrorThatNamesItsPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "state_dir = \"/s\"\n\n[session]\nlease = \"1h\"\nlaese = \"1h\"\n", ":5: session.laese: there is no such setting"},
		{"unknown table", "[sesion]\nlease = \"1h\"\n", ":2: sesion.lease: there is no such setting"},
		{"key in the wrong table", "[log]\nlease = \"1h\"\n", ":2: log.lease: there is no such setting"},
		{"unknown key of an inline table", "# first\nsession = { lease = \"1h\", x = 1 }\n", ":2: session.x: there is no such setting"},
		{"dotted key", "session.lease = \"1h\"\nsession.\"x\" = 1\n", ":2: session.x: there is no such setting"},
		{"number as text", "[session]\nmax_live = \"3\"\n", ":2: session.max_live: want a whole number"},
		{"text as number", "[session]\nlease = 3600\n", ":2: session.lease: want a string"},
		{"list with a number", "[protected]\nhidden = [\"/a\", 1]\n", ":2: protected.hidden: want a list of strings"},
		{"no duration", "[session]\nlease = \"soon\"\n", `:2: session.lease: "soon" is not a duration`},
		{"duration too long", "[session]\nlease = \"48h\"\n", ":2: session.lease: 48h0m0s is not from 1s to 24h0m0s"},
		{"number too high", "[session]\nmax_live = 65\n", ":2: session.max_live: 65 is not from 1 to 64"},
		{"address of the world", "[listen]\nlocal = \"0.0.0.0:80\"\n", ":2: listen.local: \"0.0.0.0:80\" would let other machines in"},
		{"name instead of an address", "[listen]\nlocal = \"localhost:80\"\n", ":2: listen.local: \"localhost:80\" is not an address"},
		{"relative path", "state_dir = \"state\"\n", `:1: state_dir: "state" is not an absolute path`},
		{"relative pattern", "[protected]\nhidden = [\"/a\", \"secrets\"]\n", `:2: protected.hidden: "secrets" is neither absolute nor below ~/`},
		{"another's home", "[protected]\nread_only = [\"~you/x\"]\n", `:2: protected.read_only: "~you/x" is neither absolute nor below ~/`},
		{"malformed pattern", "[protected]\nhidden = [\"~/[a\"]\n", `:2: protected.hidden: "~/[a" is not a valid pattern`},
		{"everything", "[protected]\nhidden = [\"/a/..\"]\n", `:2: protected.hidden: "/a/.." covers the whole computer`},
		{"the home", "[protected]\nhidden = [\"~/\"]\n", `:2: protected.hidden: "~/" covers all of the home directory`},
		{"empty pattern", "[protected]\nhidden = [\"\"]\n", `:2: protected.hidden: "" is neither absolute nor below ~/`},
		{"policy", "[approval]\ndirect_write = \"always\"\n", ":2: approval.direct_write: \"always\" is none of ask_once, ask, notify and deny"},
		{"no policy", "[approval]\nread_only = \"\"\n", ":2: approval.read_only: \"\" is none of"},
		{"profile", "[approval]\nwrite = \"ask\"\n", ":2: approval.write: there is no such setting"},
		{"retention too short", "[retention]\nundo = \"10m\"\n", ":2: retention.undo: 10m0s is not from 1h to 3650d"},
		{"no age", "[retention]\nclaude_homes = \"-1d\"\n", `:2: retention.claude_homes: "-1d" is not a duration`},
		{"level", "[log]\nlevel = \"loud\"\n", ":2: log.level: \"loud\" is none of"},
		{"broken file", "[session]\nlease = \n", ":2:"},
		{"a key twice", "claude = \"/a\"\nclaude = \"/b\"\n", ":2:"},
	} {
		path := settingsFile(t, c.text)
		_, err := inputs{config: path, env: map[string]string{"HOME": "/home/u"}}.load()
		if err == nil || !strings.Contains(err.Error(), path+c.want) {
			t.Errorf("%s: got %v, want …%s", c.name, err, c.want)
		}
		if exitCode(err) != exitUsage {
			t.Errorf("%s: exit code %d", c.name, exitCode(err))
		}
	}
}

func TestAWrongVariableIsAnErrorThatNamesIt(t *testing.T) {
	for name, value := range map[string]string{
		"CLAUDE_TOOLS_STATE_DIR": "state", "DECKHAND_STATE_DIR": "./state", "CLAUDE_BIN": "claude",
		"DECKHAND_LEASE": "2", "DECKHAND_LISTEN": "192.168.1.2:80", "DECKHAND_MAX_LIVE": "99999999999999999999",
		"DECKHAND_HIDDEN": "/a:b",
	} {
		_, err := inputs{env: map[string]string{"HOME": "/home/u", name: value}}.load()
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"one address for both":       {"DECKHAND_LISTEN": "127.0.0.1:7000", "DECKHAND_CONNECTOR_LISTEN": "127.0.0.1:7000"},
		"a wait longer than a lease": {"DECKHAND_LEASE": "10s", "DECKHAND_MAX_WAIT": "20s"},
		"no home and no state":       {"HOME": ""},
		"worktrees in the state":     {"DECKHAND_STATE_DIR": "/s", "DECKHAND_WORKTREES": "/s/private/w"},
		"worktrees as the state":     {"DECKHAND_STATE_DIR": "/s", "DECKHAND_WORKTREES": "/s"},
		"worktrees with a blank":     {"DECKHAND_WORKTREES": "/my trees"},
	} {
		if env["HOME"] = "/home/u"; name == "no home and no state" {
			env["HOME"] = ""
		}
		if _, err := (inputs{env: env}).load(); exitCode(err) != exitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	env := map[string]string{"HOME": "/home/u", "DECKHAND_LISTEN": "127.0.0.1:0", "DECKHAND_CONNECTOR_LISTEN": "127.0.0.1:0"}
	if _, err := (inputs{env: env}).load(); err != nil {
		t.Errorf("two free ports: %v", err)
	}
}

func TestASettingsFileThatOthersCanChangeIsRefused(t *testing.T) {
	path := settingsFile(t, "")
	for mode, accepted := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o664: false, 0o646: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := inputs{config: path, env: map[string]string{"HOME": "/home/u"}}.load()
		if (err == nil) != accepted {
			t.Errorf("a file of mode %04o: %v", mode, err)
		}
	}
	if _, err := (inputs{config: path + ".none", env: map[string]string{"HOME": "/home/u"}}).load(); err == nil {
		t.Error("a named file that does not exist is accepted")
	}
}

// TestTheExplainedFileIsTheDefaults takes every comment sign away from a
// setting and loads the result: nothing may change.
func TestTheExplainedFileIsTheDefaults(t *testing.T) {
	a := &app{env: map[string]string{"HOME": "/home/u"}}
	commented := a.commentedConfig()
	for _, variant := range []string{commented, uncomment(commented)} {
		in := inputs{config: settingsFile(t, variant), env: map[string]string{"HOME": "/home/u"}}
		got, err := in.load()
		if err != nil {
			t.Fatal(err)
		}
		want, err := inputs{env: in.env}.load()
		if err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Settings{}), cmpopts.IgnoreFields(Settings{}, "File"), cmpopts.EquateEmpty())
		if diff != "" {
			t.Errorf("the explained file changes:\n%s", diff)
		}
	}
	for _, def := range settings {
		name := def.key[strings.LastIndexByte(def.key, '.')+1:]
		if !strings.Contains(commented, "\n#"+name+" = ") || !strings.Contains(commented, def.env) {
			t.Errorf("the explained file lacks %s or %s", def.key, def.env)
		}
	}
}

// uncomment makes settings of the comments that hold one.
func uncomment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}

func FuzzLineOfNeverLeavesTheFile(f *testing.F) {
	f.Add("[a]\nb = 1\n", "a.b")
	f.Add("a = { b = 1 }", "a.b")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, data, key string) {
		if n := lineOf(data, key); n < 1 || n > strings.Count(data, "\n")+1 {
			t.Errorf("lineOf(%q, %q) = %d", data, key, n)
		}
	})
}
