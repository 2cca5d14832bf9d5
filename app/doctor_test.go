package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/control"
)

// realClaude is the Claude Code of the tests.
func realClaude(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DECKHAND_TEST_CLAUDE")
	if path == "" {
		t.Fatal("DECKHAND_TEST_CLAUDE is not set; run the tests with: make test")
	}
	return path
}

// mcp serves the real control plane, which takes token, in front of an engine
// that nobody calls, and returns its address.
func mcp(t *testing.T, token string) string {
	t.Helper()
	server, err := control.New(control.Config{Engine: struct{ control.Engine }{}, Version: version(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	srv := &http.Server{Handler: server.Handler(control.Listener{Hosts: control.LoopbackHosts(port),
		Credential: control.StaticBearer(sha256.Sum256([]byte(token)))})}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return ln.Addr().String()
}

// verdicts runs the doctor and returns its rows by name, and the exit code.
func (w *world) doctor(args ...string) (map[string]check, result) {
	w.t.Helper()
	r := w.run(append([]string{"doctor", "--json"}, args...)...)
	var report struct {
		OK     bool
		Checks []check
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		w.t.Fatalf("doctor --json: %v\n%s%s", err, r.out, r.err)
	}
	rows := map[string]check{}
	for _, c := range report.Checks {
		if c.Evidence == "" || c.Verdict == bad && c.Remedy == "" {
			w.t.Errorf("%s lacks evidence or remedy: %+v", c.Name, c)
		}
		rows[c.Name] = c
	}
	if report.OK != (r.code == exitOK) || r.err != "" {
		w.t.Errorf("doctor says ok=%v, exits with %d and says %q", report.OK, r.code, r.err)
	}
	return rows, r
}

func (w *world) expect(rows map[string]check, want map[string]verdict) {
	w.t.Helper()
	for name, v := range want {
		if rows[name].Verdict != v {
			w.t.Errorf("%s: %+v, want %s", name, rows[name], v)
		}
	}
}

func TestTheDoctorFindsNothingWrongWithAWholeInstallation(t *testing.T) {
	w := newWorld(t)
	w.engine.local = mcp(t, "local-secret")
	w.env = append(w.env, "DECKHAND_CLAUDE="+realClaude(t))
	w.serve()
	rows, r := w.doctor()
	if r.code != exitOK {
		t.Errorf("exit code %d", r.code)
	}
	w.expect(rows, map[string]verdict{"deckhand": good, "settings": good, "Claude Code": good, "sandbox": good,
		"state directory": good, "gateway": good, "local address": good, "ChatGPT": off})
	if e := rows["local address"].Evidence; !strings.Contains(e, "6 tools") {
		t.Errorf("local address: %s", e)
	}
	w.env = append(w.env, "DECKHAND_BUBBLEWRAP="+filepath.Join(w.home, "none")) // once is enough
	text := w.run("doctor").out
	noEscapes(t, "doctor", text)
	if strings.Contains(text, "local-secret") {
		t.Error("the doctor prints the token")
	}
}

func TestTheDoctorSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "DECKHAND_CLAUDE="+filepath.Join(w.home, "none"), "DECKHAND_BUBBLEWRAP="+filepath.Join(w.home, "none"))
	rows, r := w.doctor("--ledger")
	if r.code != exitFailed {
		t.Errorf("exit code %d", r.code)
	}
	w.expect(rows, map[string]verdict{"Claude Code": bad, "sandbox": bad, "state directory": good, "gateway": bad,
		"local address": off, "ChatGPT": off, "ledger": off})

	if err := os.Chmod(w.state, 0o755); err != nil {
		t.Fatal(err)
	}
	rows, _ = w.doctor()
	w.expect(rows, map[string]verdict{"state directory": bad, "gateway": bad})
	if !strings.Contains(rows["state directory"].Remedy, "chmod 700") {
		t.Errorf("state directory: %+v", rows["state directory"])
	}
	if err := os.RemoveAll(w.state); err != nil {
		t.Fatal(err)
	}
	rows, _ = w.doctor()
	w.expect(rows, map[string]verdict{"state directory": off, "gateway": bad})
}

func TestTheDoctorTellsAWrongEndpoint(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "DECKHAND_BUBBLEWRAP="+filepath.Join(w.home, "none")) // the sandbox is not what is asked
	w.engine.local = mcp(t, "another-token")
	w.serve()
	rows, _ := w.doctor()
	w.expect(rows, map[string]verdict{"gateway": good, "local address": bad})
	if e := rows["local address"].Evidence; !strings.Contains(e, "refuses the token") {
		t.Errorf("local address: %s", e)
	}

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.engine.local = ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	rows, _ = w.doctor("--ledger")
	w.expect(rows, map[string]verdict{"local address": bad, "ledger": worry})

	w.engine.warnings = []string{"No session can start."}
	rows, _ = w.doctor()
	w.expect(rows, map[string]verdict{"gateway": worry})
}

func TestTheProbeWantsExactlyTheSixTools(t *testing.T) {
	address := mcp(t, "t")
	names, err := probe(t.Context(), "http://"+address+"/mcp", "t")
	if err != nil || len(names) != len(sessionTools) {
		t.Errorf("probe of the real control plane = %v, %v", names, err)
	}
	for want, answers := range map[string]map[string]string{
		"it offers Bash":       {"server/discover": `{"supportedVersions":["2026-07-28"]}`, "tools/list": `{"tools":[{"name":"Bash"}]}`},
		"it speaks 2025-11-25": {"server/discover": `{"supportedVersions":["2025-11-25"]}`},
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":` + answers[r.Header.Get("Mcp-Method")] + `}`))
			if err != nil {
				t.Error(err)
			}
		}))
		if _, err := probe(t.Context(), other.URL, "t"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("probe of another server: %v, want %s", err, want)
		}
		other.Close()
	}
}

func TestABrokenSettingsFileIsOneFailedCheck(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "DECKHAND_BUBBLEWRAP="+filepath.Join(w.home, "none"), "DECKHAND_CONFIG="+settingsFile(t, "[session]\nlease = 5\n"))
	rows, r := w.doctor()
	w.expect(rows, map[string]verdict{"settings": bad, "state directory": good})
	if e := rows["settings"].Evidence; r.code != exitFailed || !strings.Contains(e, "session.lease: want a string") {
		t.Errorf("settings: %s", e)
	}
	w.env = append(w.env, "DECKHAND_LEASE=soon")
	if r := w.run("doctor"); r.code != exitUsage {
		t.Errorf("a wrong variable: %+v", r)
	}
}

func TestTheDoctorSaysHowMuchRoomIsTaken(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.state, "private", "homes", "ses_a")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(home, name), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/usr", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	rows, _ := w.doctor()
	d := rows["disk"]
	if d.Verdict != good || !strings.Contains(d.Evidence, "homes of Claude Code 2.0 KiB, caches of commands 0 B, worktrees 0 B") {
		t.Errorf("disk: %+v", d)
	}
	for _, r := range d.Rooms {
		if r.Name == "homes of Claude Code" && r.Bytes != 2000 {
			t.Errorf("%+v", r)
		}
	}
}
