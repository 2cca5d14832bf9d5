package runner

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

var update = flag.Bool("update", false, "write the golden files")

// TestMain lets the test binary stand in for deckhand: its "shim" reports what
// it was born with and lives until it is told to end.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "shim" {
		os.Exit(shimMain(Dir(os.Args[3])))
	}
	flag.Parse()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// born is what the stand-in tells of its birth.
type born struct {
	Plan    Plan
	Args    []string
	Env     []string
	Session bool
	Dir     string
	Stdio   [3]string
}

func shimMain(dir Dir) int {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	lock, err := TakeLock(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer lock.Release()
	b := born{Args: os.Args, Env: os.Environ()}
	if b.Plan, err = TakePlan(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	b.Session = int(sid) == os.Getpid()
	b.Dir, _ = os.Getwd()
	for i := range b.Stdio {
		b.Stdio[i], _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", i))
	}
	raw, _ := json.Marshal(b)
	os.WriteFile(dir.file("born.tmp"), raw, 0o600)
	os.Rename(dir.file("born.tmp"), dir.file("born"))
	<-told
	return 0
}

func testRunner(t *testing.T) *Runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return New(Config{Runs: dir + "/runs", Homes: dir + "/homes", Socket: dir + "/s", Self: self})
}

func testSpec() Spec {
	return Spec{Run: turn.NewRunID(), Session: "ses_1", Token: "run-token", Claude: "/opt/claude", ClaudeSession: "6091e753-c215-4a8f-b9bc-b319d3773daf",
		Prompt: "/look", LeaseExpiresAt: time.Now().Add(time.Hour).UTC().Round(0), Tools: []Tool{
			{Name: "Read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
			{Name: "FindFiles", InputSchema: json.RawMessage(`{}`)}}}
}

// birth waits for the stand-in's report.
func birth(t *testing.T, dir Dir) born {
	t.Helper()
	for range 1000 {
		if raw, err := os.ReadFile(dir.file("born")); err == nil {
			var b born
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatal(err)
			}
			return b
		}
		time.Sleep(10 * time.Millisecond)
	}
	log, _ := os.ReadFile(dir.ShimLog())
	t.Fatalf("no shim was born: %s", log)
	return born{}
}

func TestStartedShimStandsAlone(t *testing.T) {
	t.Setenv("DECKHAND_CANARY", "inherited")
	r, s := testRunner(t), testSpec()
	h, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { h.Kill(); <-h.Done() }()
	// From here on, never a moment without a holder.
	if alive, err := r.Alive(s.Run); err != nil || !alive {
		t.Errorf("right after the start: alive %v %v", alive, err)
	}
	if _, err := r.Start(t.Context(), s); !errors.Is(err, ErrLocked) {
		t.Errorf("a second start: %v", err)
	}
	dir := r.Dir(s.Run)
	b := birth(t, dir)
	if want := fmt.Sprint([]string{"deckhand", "shim", "--run", string(dir)}); fmt.Sprint(b.Args) != want {
		t.Errorf("arguments: %v", b.Args)
	}
	if env := fmt.Sprint(b.Env); strings.Contains(env, "CANARY") || strings.Contains(env, "HOME") {
		t.Errorf("environment: %v", b.Env)
	}
	if !b.Session || b.Dir != "/" || b.Stdio != [3]string{"/dev/null", dir.ShimLog(), dir.ShimLog()} {
		t.Errorf("session leader %v, in %s, stdio %v", b.Session, b.Dir, b.Stdio)
	}
	if b.Plan.Prompt != s.Prompt || b.Plan.Socket != r.cfg.Socket || b.Plan.Resume || b.Plan.Home != r.Home(s.Session) || b.Plan.Protocol != link.Version {
		t.Errorf("plan: %+v", b.Plan)
	}
	if _, err := os.Lstat(dir.file(planName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the plan is still there: %v", err)
	}
	h.Kill()
	<-h.Done()
	if alive, err := r.Alive(s.Run); err != nil || alive {
		t.Errorf("after its end: alive %v %v", alive, err)
	}
}

func TestRunDirectoryIsPrivateAndGoesWhole(t *testing.T) {
	r, s := testRunner(t), testSpec()
	if runs, err := r.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("before anything: %v %v", runs, err)
	}
	if err := r.Prepare(s); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(s); err != nil {
		t.Errorf("again: %v", err)
	}
	err := filepath.WalkDir(filepath.Dir(r.cfg.Runs), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if path != filepath.Dir(r.cfg.Runs) && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	os.Mkdir(r.cfg.Runs+"/something else", 0o700)
	if runs, err := r.Runs(); err != nil || len(runs) != 1 || runs[0] != s.Run {
		t.Errorf("runs: %v %v", runs, err)
	}
	for range 2 {
		if err := r.Remove(s.Run); err != nil {
			t.Error(err)
		}
	}
	if runs, err := r.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("after Remove: %v %v", runs, err)
	}
	for _, run := range []turn.RunID{"", ".", "../homes", "run_/../x", "something else"} {
		if err := r.Remove(run); err == nil {
			t.Errorf("removed %q", run)
		}
	}
}

func TestSpecsThatCannotBeFollowedAreRefused(t *testing.T) {
	r := testRunner(t)
	for name, spoil := range map[string]func(*Spec){
		"run with a path":   func(s *Spec) { s.Run = "run_../../x" },
		"no session":        func(s *Spec) { s.Session = "" },
		"no token":          func(s *Spec) { s.Token = "" },
		"relative claude":   func(s *Spec) { s.Claude = "claude" },
		"option as session": func(s *Spec) { s.ClaudeSession = "--resume" },
		"no prompt":         func(s *Spec) { s.Prompt = "" },
		"no lease":          func(s *Spec) { s.LeaseExpiresAt = time.Time{} },
		"tool with a comma": func(s *Spec) { s.Tools[0].Name = "Read,Bash" },
		"schema of a list":  func(s *Spec) { s.Tools[0].InputSchema = json.RawMessage(`[]`) },
	} {
		s := testSpec()
		spoil(&s)
		err := r.Prepare(s)
		if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Code != turn.LaunchFailed || refusal.Detail != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runs, err := r.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("left: %v %v", runs, err)
	}
}

func TestExitRecord(t *testing.T) {
	r, s := testRunner(t), testSpec()
	if _, ok, err := r.Exit(s.Run); ok || err != nil {
		t.Errorf("of no run: %v %v", ok, err)
	}
	if err := r.Prepare(s); err != nil {
		t.Fatal(err)
	}
	want := link.Exit{Run: s.Run, Code: -1, Signal: "SIGKILL", Ended: true, EndReason: "stopped", FinishedAt: time.Now().UTC().Round(0)}
	if err := WriteExit(r.Dir(s.Run), want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := r.Exit(s.Run); got != want || !ok || err != nil {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	want.Run = turn.NewRunID()
	if err := WriteExit(r.Dir(s.Run), want); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Exit(s.Run); ok || err == nil {
		t.Error("another run's record is taken")
	}
	if err := os.WriteFile(r.Dir(s.Run).file(exitName), []byte(`{"run":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Exit(s.Run); ok || err == nil {
		t.Error("half a record is taken")
	}
}

func TestOnlyATranscriptWithAMessageIsResumed(t *testing.T) {
	r, s := testRunner(t), testSpec()
	folder := filepath.Join(r.Home(s.Session), configName, "projects", "-some-[place]*")
	path := filepath.Join(folder, s.ClaudeSession+".jsonl")
	const latch, user = `{"type":"atis-latch"}` + "\n", `{"type":"user","message":{"role":"user","content":"x"}}`
	for _, c := range []struct {
		name, content string
		resumes       bool
	}{
		{"empty", "", false},
		{"no message", latch + `{"type":"queue-operation","content":"\"type\":\"user\""}` + "\n", false},
		{"half a message", latch + user[:20], false},
		{"message", latch + user + "\n", true},
		{"message and half a line", latch + user + "\n{\"ty", true},
	} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.TranscriptExists(r.Home(s.Session), s.ClaudeSession); got != c.resumes {
			t.Errorf("%s: exists %v", c.name, got)
		}
		s.Run = turn.NewRunID()
		if err := r.Prepare(s); err != nil {
			t.Fatal(err)
		}
		plan, err := TakePlan(r.Dir(s.Run))
		if err != nil || plan.Resume != c.resumes {
			t.Errorf("%s: resume %v %v", c.name, plan.Resume, err)
		}
		if _, err := os.Stat(path); (err == nil) != c.resumes {
			t.Errorf("%s: after Prepare %v", c.name, err)
		}
	}
	if r.TranscriptExists(r.Home(s.Session), "../../x") || r.TranscriptExists(r.Home("ses_other"), s.ClaudeSession) {
		t.Error("a transcript of nobody")
	}
}

func TestLockHasOneHolder(t *testing.T) {
	dir := Dir(t.TempDir())
	if locked, err := isLocked(dir); locked || err != nil {
		t.Errorf("no file: %v %v", locked, err)
	}
	first, err := TakeLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("second: %v", err)
	}
	if locked, err := isLocked(dir); !locked || err != nil {
		t.Errorf("held: %v %v", locked, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if locked, err := isLocked(dir); locked || err != nil {
		t.Errorf("released: %v %v", locked, err)
	}
}
