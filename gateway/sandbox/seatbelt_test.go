package sandbox

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/sandbox/sbpl"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	macHome  = "/Users/me"
	macState = macHome + "/Library/Application Support/Deckhand"
	macSelf  = "/Applications/Deckhand.app/Contents/MacOS/deckhand"
	macMark  = "rc.MARKMARKMARKMARKMARKMARKMA"
)

// macHidden is a sample of what a command must not see.
var macHidden = []string{
	macHome + "/.ssh", macHome + "/.aws", macHome + "/.gnupg", macHome + "/.config/gh", macHome + "/.netrc",
	macHome + "/.docker", macHome + "/Library/Keychains", macHome + "/Library/Mail", macHome + "/Library/Messages",
	macHome + "/Library/Application Support/Google", macHome + "/Library/Application Support/Claude",
	macHome + "/.claude.json", macHome + "/.local/share/claude/versions/2.1.247", macHome + "/.zsh_history",
	macHome + "/café-geheim", macState, "/Users/somebody", "/etc/sudoers",
}

// macRules are policies as a Mac has them.
var macRules = map[string]seatbeltRules{
	"runner": {
		ReadOnly: []string{macState + "/run/run_1/cwd", macState + "/run/run_1/path", macState + "/run/run_1/mcp.json",
			macState + "/claude/node_modules/@anthropic-ai/claude-code-darwin-arm64/claude"},
		Writable: []string{macState + "/homes/0123456789abcdef"},
		Port:     50123, Self: macSelf, Mark: macMark,
	},
	"command": {
		Whole: true, Hidden: macHidden,
		Writable: []string{macHome + "/.deckhand/commands/s1/scratch", macHome + "/.deckhand/commands/s1/cache"},
		Self:     macSelf, Mark: macMark,
	},
	// A worktree in a temporary directory, a scratch directory inside of
	// something hidden, something hidden inside of the scratch directory.
	"nested": {
		Whole: true, Hidden: append([]string{macHome + "/Library", macState + "/scratch/work/secret"}, macHidden...),
		ReadOnly: []string{"/private/tmp/worktree", macState + "/scratch/work/fixed"},
		Writable: []string{macState + "/scratch/work"},
		Self:     macSelf, Mark: macMark,
	},
	"hostile": {
		Whole: true,
		Hidden: []string{`/Users/me/a")) (allow default) ("`, `/Users/me/b\`, `/Users/me/c;(`, `/Users/me/#"d"`,
			`/Users/me/(param "SELF")`, "/Users/me/caf\u00e9", "/Users/me/cafe\u0301", "/Users/me/é=è=", "/Users/me/-D x=y",
			"/Users/me/" + strings.Repeat("n", 200)},
		ReadOnly: []string{`/Users/me/b\/"in"`},
		Writable: []string{`/Users/me/scratch [.*]+?^$`},
		Self:     `/Applications/Deck "hand".app/deckhand`, Mark: macMark,
	},
}

func (s seatbelt) values() map[string]string {
	m := map[string]string{}
	for _, p := range s.params {
		m[p.name] = p.value
	}
	return m
}

// compiled is the profile of rules, understood.
func compiled(t testing.TB, r seatbeltRules) (seatbelt, *sbpl.Profile) {
	t.Helper()
	s, err := makeSeatbelt(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sbpl.Compile(s.text, s.values())
	if err != nil {
		t.Fatalf("%v in\n%s", err, s.text)
	}
	return s, p
}

func TestSeatbeltProfilesAreAsRead(t *testing.T) {
	for name, rules := range macRules {
		s, _ := compiled(t, rules)
		var b strings.Builder
		b.WriteString(s.text)
		for _, p := range s.params {
			fmt.Fprintf(&b, ";; -D %s=%s\n", p.name, p.value)
		}
		file := filepath.Join("testdata", "seatbelt", name+".sb")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != b.String() {
			t.Errorf("%s is not what is written for it; look at the difference after -update", file)
		}
	}
}

// The rules of the language that keep a profile from saying more than it seems
// to.
func TestSeatbeltProfilesHaveNoWideRule(t *testing.T) {
	for name, rules := range macRules {
		s, p := compiled(t, rules)
		seen := map[string]bool{}
		for i, r := range p.Rules {
			bare := len(r.Filters) == 0
			switch {
			case r.Operation == "default" && (r.Allow || i != 0):
				t.Errorf("%s: default is allowed or said twice", name)
			case r.Allow && bare && r.Operation != "process-fork" && r.Operation != "ipc-posix-sem":
				t.Errorf("%s: %s is allowed without a filter", name, r.Operation)
			case r.Allow && slices.Contains(neverAllowed, r.Operation):
				t.Errorf("%s: %s is allowed", name, r.Operation)
			case r.Allow && strings.HasPrefix(r.Operation, "network") && rules.Port == 0:
				t.Errorf("%s: %s is allowed", name, r.Operation)
			// A rule for a narrower operation would count more than the view.
			case r.Allow && strings.HasPrefix(r.Operation, "file-read-data"):
				t.Errorf("%s: reading is allowed beside the view", name)
			}
			if r.Allow && r.Operation == "file-read*" {
				seen["read"] = true
			}
			if r.Allow && r.Operation == "file-write*" && seen["write"] {
				t.Errorf("%s: writing is allowed in two places", name)
			}
			seen["write"] = seen["write"] || r.Allow && r.Operation == "file-write*"
		}
		for _, text := range p.Strings() {
			if len(text) >= maxSeatbeltPath || strings.ContainsAny(text, "\x00\n\r") {
				t.Errorf("%s: the string %.60q is too long or holds a control character", name, text)
			}
		}
		for _, word := range []string{"(import", "with no-sandbox", "(with", "(allow default", "(debug", "(trace"} {
			if strings.Contains(s.text, word) {
				t.Errorf("%s: the profile holds %q", name, word)
			}
		}
		for _, value := range slices.Concat(rules.ReadOnly, rules.Writable, rules.Hidden, []string{rules.Self, rules.Mark}) {
			if strings.Contains(s.text, value) {
				t.Errorf("%s: the value %q is part of the text", name, value)
			}
		}
	}
}

var neverAllowed = []string{"default", "file*", "file-link", "file-mount", "file-mount-update", "file-unmount", "file-search",
	"file-clone", "iokit*", "iokit-open", "mach*", "mach-register", "mach-priv*", "mach-priv-task-port", "network*",
	"network-bind", "network-inbound", "appleevent-send", "lsopen", "job-creation", "pseudo-tty", "user-preference*",
	"user-preference-read", "user-preference-write", "nvram*", "sysctl*", "sysctl-write", "system*", "system-socket",
	"process*", "ipc*", "ipc-posix*", "ipc-sysv*", "dynamic-code-generation"}

func TestSeatbeltArgumentsHoldEveryValue(t *testing.T) {
	s, _ := compiled(t, macRules["hostile"])
	args := s.arguments()
	if args[0] != "-p" || args[1] != s.text || len(args) != 2+2*len(s.params) {
		t.Fatalf("arguments %q", args[:2])
	}
	for i, p := range s.params {
		if args[2+2*i] != "-D" || args[3+2*i] != p.name+"="+p.value {
			t.Errorf("argument %d is %q %q", i, args[2+2*i], args[3+2*i])
		}
	}
}

func TestSeatbeltRefusesWhatItCannotSay(t *testing.T) {
	good := macRules["command"]
	for want, spoil := range map[string]func(*seatbeltRules){
		"control character": func(r *seatbeltRules) { r.Hidden = []string{"/Users/me/a\nb"} },
		"control char":      func(r *seatbeltRules) { r.Writable = []string{"/Users/me/a\u0085b"} },
		"not UTF-8":         func(r *seatbeltRules) { r.ReadOnly = []string{"/Users/me/\xff"} },
		"more than 900":     func(r *seatbeltRules) { r.Hidden = []string{"/" + strings.Repeat("x", 900)} },
		"not a clean":       func(r *seatbeltRules) { r.Hidden = []string{"/Users/me/../you"} },
		"clean absolute":    func(r *seatbeltRules) { r.Hidden = []string{"Users/me"} },
		"absolute path":     func(r *seatbeltRules) { r.Writable = []string{"/Users/me/"} },
		"whole volume":      func(r *seatbeltRules) { r.ReadOnly = []string{"/"} },
		"a whole":           func(r *seatbeltRules) { r.Writable = []string{dataVolume} },
		"twice":             func(r *seatbeltRules) { r.Hidden = r.Writable },
		"policy twice":      func(r *seatbeltRules) { r.ReadOnly = []string{dataVolume + r.Writable[0]} },
		"program is hidden": func(r *seatbeltRules) { r.Hidden = []string{macSelf} },
		"no mark":           func(r *seatbeltRules) { r.Mark = "" },
		"is no mark":        func(r *seatbeltRules) { r.Mark = `a"b c` },
		"port 80":           func(r *seatbeltRules) { r.Port = 80 },
		"port 70000":        func(r *seatbeltRules) { r.Port = 70000 },
		"bytes, more than": func(r *seatbeltRules) {
			for i := range 400 {
				r.Hidden = append(r.Hidden, fmt.Sprintf("/Users/me/%d/%s", i, strings.Repeat("y", 600)))
			}
		},
	} {
		r := good
		r.Hidden = slices.Clone(good.Hidden)
		spoil(&r)
		if _, err := makeSeatbelt(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The script that proves all this on a Mac is read by bash, and says in one
// sentence that it is for nothing else.
func TestSeatbeltScriptRefusesOtherSystems(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("here it would start")
	}
	out, err := exec.CommandContext(t.Context(), "bash", "../../packaging/macos/verify-seatbelt.sh").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "this is for macOS") ||
		strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "bash", "-n", "../../packaging/macos/verify-seatbelt.sh").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
