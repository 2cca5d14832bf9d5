package tests

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway/runner"
	"deckhand/gateway/session"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// protectedText is what stands in a file that nobody may read.
const protectedText = "unique-private-key-text"

// TestNothingSaidHoldsWhatIsInternal plays a whole session with every kind of
// call, with refusals, a crash and a recover, and then searches all that was
// said: the answers, the events, the log, the words of the command line, and
// the transcript that Claude Code keeps.
func TestNothingSaidHoldsWhatIsInternal(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With("DECKHAND_LOG_LEVEL=debug"))
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file.txt"), []byte("needle\n"), 0o600))
	key := filepath.Join(g.Home, ".ssh", "id_ed25519")
	must(t, os.Mkdir(filepath.Dir(key), 0o700))
	must(t, os.WriteFile(key, []byte(protectedText), 0o600))
	chat := g.Chat()
	s := chat.Start(chatgpt.Start{WorkingDirectory: dir, Label: "secrets"})
	s.Turn()
	pids := map[string]string{}
	for _, p := range g.Processes() {
		pids[fmt.Sprint(p.PID)] = p.Name
	}
	s.One("FindFiles", map[string]any{})
	s.One("SearchText", map[string]any{"text": "needle", "directory": "/proc"})
	s.One("Read", map[string]any{"file_path": key})
	s.One("Read", map[string]any{"file_path": "/proc/self/environ"})
	_, _ = chat.Call(t.Context(), chatgpt.ToolStart, map[string]any{"prompt": 1})
	_, _ = chat.Join(s.ID, "lea_other", "").Status(t.Context(), 0)
	g.Crash()
	g.Again()
	token := s.Token
	s = g.Chat().Join(s.ID, "", token)
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.One("Read", map[string]any{"file_path": "file.txt"})
	// The logs of a run go with it.
	var said []saying
	for _, log := range g.Logs() {
		said = append(said, saying{name: log.Name, text: log.Text})
	}
	s.Say("done")
	if _, err := s.Continue(t.Context(), "Go on."); err != nil {
		t.Fatal(err)
	}
	s.Say("done again")
	s.Halt()

	said = append(said, sayings(t, g, s)...)
	for _, name := range []string{"deckhand.log", "shim.log", "stdout.log", "stderr.log"} {
		if !slices.ContainsFunc(said, func(s saying) bool { return s.name == name }) {
			t.Errorf("there is no %s; does the test look in the right place?", name)
		}
	}
	secrets := secretsOf(t, g, s)
	for _, where := range said {
		for name, secret := range secrets {
			if bytes.Contains(where.text, []byte(secret)) {
				t.Errorf("%s holds %s: %s", where.name, name, around(where.text, bytes.Index(where.text, []byte(secret))))
			}
		}
		if where.toClaude {
			continue // it knows where it stands
		}
		// The state directory itself is one that the user may choose.
		if i := bytes.Index(where.text, []byte(g.State+"/")); i >= 0 {
			t.Errorf("%s holds an internal path: %s", where.name, around(where.text, i))
		}
		for pid, name := range pids {
			if hit := regexp.MustCompile(`(?i)\b(pid|process)\W{0,4}` + pid + `\b`).FindIndex(where.text); hit != nil {
				t.Errorf("%s holds the pid of %s: %s", where.name, name, around(where.text, hit[0]))
			}
		}
	}
}

// saying is one text that leaves the gateway.
type saying struct {
	name string
	text []byte
	// toClaude: Claude Code wrote it in its own private home.
	toClaude bool
}

// sayings collects everything that a session made the gateway say.
func sayings(t *testing.T, g *rig.Gateway, s *fakechatgpt.Session) []saying {
	t.Helper()
	var all []saying
	for i, answer := range g.Book.Answers() {
		all = append(all, saying{name: fmt.Sprint("answer ", i), text: answer})
	}
	events, err := json.Marshal(g.Events(""))
	must(t, err)
	all = append(all, saying{name: "the list of events", text: events})
	for _, command := range [][]string{{"sessions"}, {"sessions", "--json"}, {"show", s.ID}, {"show", s.ID, "--json"}, {"log"}, {"log", "--json"}} {
		out, err := g.Run(t.Context(), command...)
		must(t, err)
		all = append(all, saying{name: "deckhand " + strings.Join(command, " "), text: []byte(out)})
	}
	for _, log := range g.Logs() {
		all = append(all, saying{name: log.Name, text: log.Text})
	}
	return append(all, saying{name: "the transcript of Claude Code", text: g.ClaudeTranscript().Text, toClaude: true})
}

// secretsOf lists what nobody may be told. Recovery tokens are not among those
// of the answers: start and recover hand them to ChatGPT.
func secretsOf(t *testing.T, g *rig.Gateway, s *fakechatgpt.Session) map[string]string {
	t.Helper()
	keyFile := filepath.Join(g.State, "private", "key")
	raw, err := os.ReadFile(keyFile)
	must(t, err)
	secret, err := session.LoadSecret(keyFile)
	must(t, err)
	admin, err := os.ReadFile(filepath.Join(g.State, "private", "admin-token"))
	must(t, err)
	all := map[string]string{
		"the key":             string(raw),
		"the key in hex":      hex.EncodeToString(raw),
		"the key in base64":   base64.StdEncoding.EncodeToString(raw),
		"the local token":     g.Token(),
		"the admin token":     strings.TrimSpace(string(admin)),
		"a protected content": protectedText,
	}
	runs := 0
	for _, e := range g.Events(s.ID) {
		if e.Run == "" {
			continue
		}
		runs++
		spec := runner.Spec{Run: e.Run, Token: secret.RunToken(e.Run)}
		all["the token of "+string(e.Run)] = spec.Token
		all["the port's token of "+string(e.Run)] = spec.PortToken()
	}
	if runs == 0 {
		t.Error("no event names a run; is the list of secrets whole?")
	}
	return all
}

// around shows what stands at a place.
func around(text []byte, i int) string {
	return fmt.Sprintf("%q", text[max(0, i-60):min(len(text), i+100)])
}
