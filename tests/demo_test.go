package tests

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/app/demo/process"
	"deckhand/tests/rig"
)

// showing is one demo in a process of its own, with everything temporary of it
// in a folder of the test's.
type showing struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	temp string
}

func show(t *testing.T, args ...string) *showing {
	t.Helper()
	temp, err := os.MkdirTemp("", "dhd-") // short, for the sockets
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(temp)) })
	s := &showing{temp: temp}
	s.cmd = exec.Command(rig.Program(t), append([]string{"demo"}, args...)...)
	s.cmd.Env = append(os.Environ(), "TMPDIR="+temp, "DECKHAND_CLAUDE="+rig.Claude(t))
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	must(t, s.cmd.Start())
	return s
}

// TestTheDemoSurvivesTheGatewaysKill runs the demo as a user does and watches
// the process table: while two gateways follow each other, one and the same
// Claude Code must live on.
func TestTheDemoSurvivesTheGatewaysKill(t *testing.T) {
	t.Parallel()
	s := show(t)
	seen := watch(t, s)
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("the demo ended with %v:\n%s", err, &s.out)
	}
	gateways := seen()
	if len(gateways) != 2 {
		t.Errorf("%d gateways were seen, not two", len(gateways))
	}
	shared := 0
	for claude := range gateways[0] {
		if gateways[len(gateways)-1][claude] {
			shared++
		}
	}
	if shared != 1 {
		t.Errorf("%d Claude Codes lived under both gateways, not one: %v", shared, gateways)
	}
	for _, said := range []string{"FindFiles", "SearchText", "Read", "kill -9", "native_session_recover",
		"a new lease", "the same Claude Code session", "It is SENSOR_GAP_MM", "12", "118", "2 sessions"} {
		if !strings.Contains(s.out.String(), said) {
			t.Errorf("the story lacks %q:\n%s", said, &s.out)
		}
	}
	nothingLeft(t, s)
}

// life tells one process from another that has its number later.
type life struct {
	pid     int
	started string
}

// watch looks at the processes below the demo until it ends. The function that
// it returns gives, for each gateway in order, the Claude Codes seen with it.
func watch(t *testing.T, s *showing) func() []map[life]bool {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var order []life
	with := map[life]map[life]bool{}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			all, err := process.List()
			if err != nil {
				t.Error(err)
				return
			}
			below := process.Below(all, s.cmd.Process.Pid)
			for _, p := range below {
				// A gateway that is about to start a shim is seen twice for a
				// moment; only one of the two is the demo's child.
				if p.Ended || p.Parent != s.cmd.Process.Pid || !strings.Contains(p.Args, " serve ") {
					continue
				}
				gateway := life{p.PID, p.Started}
				if with[gateway] == nil {
					with[gateway] = map[life]bool{}
					order = append(order, gateway)
				}
				for _, c := range below {
					if c.Name == "claude" && !c.Ended {
						with[gateway][life{c.PID, c.Started}] = true
					}
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() []map[life]bool {
		cancel()
		<-done
		var all []map[life]bool
		for _, gateway := range order {
			all = append(all, with[gateway])
		}
		return all
	}
}

// nothingLeft looks for what the demo should have taken along.
func nothingLeft(t *testing.T, s *showing) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.temp, "*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	all, err := process.List()
	must(t, err)
	for _, p := range process.Naming(all, s.temp) {
		if !p.Ended {
			t.Errorf("still running: %+v", p)
		}
	}
}

// TestTheDemoExploresAnyDirectory gives it a directory of its own making.
func TestTheDemoExploresAnyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lighthouse.txt":        "the lighthouse stands\n",
		"keeper/lighthouse.log": "lighthouse on\nlighthouse off\n",
		"odd\nname.txt":         "nothing\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := show(t, dir)
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("the demo ended with %v:\n%s", err, &s.out)
	}
	if !strings.Contains(strings.Join(strings.Fields(s.out.String()), " "), "most often in keeper/lighthouse.log, where line 1 reads: lighthouse on") {
		t.Errorf("the answer does not say what is there:\n%s", &s.out)
	}
	nothingLeft(t, s)
}

// TestAnInterruptedDemoLeavesNothing presses Ctrl-C at several points.
func TestAnInterruptedDemoLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"claude", " serve "} {
		t.Run(strings.TrimSpace(at), func(t *testing.T) {
			s := show(t)
			rig.Await(t, at, func() bool {
				return slices.ContainsFunc(belowOf(t, s), func(p process.Process) bool {
					return strings.Contains(p.Name+" "+p.Args, at)
				})
			})
			must(t, s.cmd.Process.Signal(syscall.SIGINT))
			if err := s.cmd.Wait(); err == nil {
				t.Errorf("an interrupted demo says that all went well:\n%s", &s.out)
			}
			if strings.Contains(s.out.String(), "still running") {
				t.Errorf("it had to kill what it should have ended in order:\n%s", &s.out)
			}
			nothingLeft(t, s)
		})
	}
}

func belowOf(t *testing.T, s *showing) []process.Process {
	t.Helper()
	all, err := process.List()
	must(t, err)
	return process.Below(all, s.cmd.Process.Pid)
}
