package sandbox

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whatever a tree did, it is gone when Wait returns [M22].
func TestTheWholeTreeIsGone(t *testing.T) {
	killed := Exit{Code: -1, Signal: "SIGKILL"}
	for _, c := range []struct {
		name, then string
		count      int
		end        func(*Process)
		want       Exit
	}{
		{"when the command ends", "end", 3, func(*Process) {}, Exit{Code: 7}},
		{"when it is killed", "wait", 3, (*Process).Kill, killed},
		{"when the command killed the stage", "kill", 3, func(*Process) {}, killed},
		{"when the command stopped the stage", "stop", 3, (*Process).Kill, killed},
		{"when there are hundreds", "wait", 300, (*Process).Kill, killed},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := ground(t)
			p := startTree(t, launcher(t), dir, c.then, c.count)
			c.end(p)
			if got := p.Wait(); got != c.want {
				t.Errorf("ended with %+v", got)
			}
			if locked(t, dir) {
				t.Error("a process of the tree lives")
			}
		})
	}
}

func TestTheTreeIsGoneWhenItsContextEnds(t *testing.T) {
	dir := ground(t)
	put(t, filepath.Join(dir, "lock"), "")
	ctx, cancel := context.WithCancel(t.Context())
	l := launcher(t)
	p, err := l.Start(ctx, Policy{Writable: []string{dir}}, Command{Path: l.self, Args: []string{"tree", dir, "wait", "3"}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	p.Wait()
	if locked(t, dir) {
		t.Error("a process of the tree lives")
	}
}

// The lifeline: a launcher that was killed can tell nobody.
func TestTheTreeDiesWithItsLauncher(t *testing.T) {
	dir := ground(t)
	put(t, filepath.Join(dir, "lock"), "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "launch", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the launcher says %q, %v", line, err)
	}
	if !locked(t, dir) {
		t.Fatal("the tree does not hold its lock")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for end := time.Now().Add(20 * time.Second); locked(t, dir); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process of the tree lives")
		}
	}
}

// Two sandboxes at a time are two [M29]: one's end is not the other's, and
// neither bears the other's mark.
func TestSandboxesAreApart(t *testing.T) {
	l := launcher(t)
	one, two := ground(t), ground(t)
	first, second := startTree(t, l, one, "wait", 2), startTree(t, l, two, "wait", 2)
	a, b := first.tree.(*tied), second.tree.(*tied)
	if !bears(a.cmd.Process.Pid, a.mark) || bears(a.cmd.Process.Pid, b.mark) || bears(os.Getpid(), a.mark) {
		t.Error("the marks do not tell the sandboxes and this process apart")
	}
	first.Kill()
	first.Wait()
	if locked(t, one) || !locked(t, two) {
		t.Error("the wrong tree was ended")
	}
	// From inside: the stage of the second ends everything that it may signal.
	third := startTree(t, l, one, "end", 2)
	third.Wait()
	if !locked(t, two) {
		t.Error("a tree that ended by itself took another one with it")
	}
	second.Kill()
	second.Wait()
	if locked(t, two) {
		t.Error("a process of the second tree lives")
	}
}

func TestTerminateReachesTheCommand(t *testing.T) {
	p, err := launcher(t).Start(t.Context(), Policy{}, Command{Path: "/bin/sleep", Args: []string{"60"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Terminate()
	if got := p.Wait(); got != (Exit{Code: -1, Signal: "SIGTERM"}) {
		t.Errorf("ended with %+v", got)
	}
}

// A stage that is not confined must not signal anybody, above all not all.
func TestTheStageRefusesToBeFree(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(self, "stage").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not confined") {
		t.Errorf("%v: %s", err, out)
	}
}

// The limits are those of the plan, and nobody in there can raise them.
func TestProcessesAreBounded(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := launcher(t).Start(t.Context(), Policy{}, Command{Path: "/bin/sh", Args: []string{"-c", "ulimit -c; ulimit -Hc; ulimit -Hu"}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit != (Exit{}) {
		t.Fatal(exit)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text))
	if len(fields) != 3 || fields[0] != "0" || fields[1] != "0" || fields[2] == "unlimited" {
		t.Errorf("the limits are %q, outside %+v", fields, own)
	}
}
