package demo_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deckhand/app/demo/process"
	"deckhand/gateway/runner"
	"deckhand/tests/rig"
)

// TestMain removes the program that the tests built.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := rig.Sweep(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the built program:", err)
		code = 1
	}
	os.Exit(code)
}

// program is a demo that can be started, and the directory that everything
// temporary of it is in. Its environment is made from nothing but PATH.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, temp string) {
	t.Helper()
	temp, err := os.MkdirTemp("", "dhd-") // short, for the sockets
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(temp)) })
	cmd = exec.Command(rig.Program(t), append([]string{"demo"}, args...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "TMPDIR=" + temp}
	return cmd, temp
}

func withClaude(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Env = append(cmd.Env, "DECKHAND_CLAUDE="+rig.Claude(t))
}

// TestADemoThatNobodyReadsLeavesNothing is demo | head.
func TestADemoThatNobodyReadsLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd, temp := program(t)
	withClaude(t, cmd)
	read, write, err := os.Pipe()
	must(t, err)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	must(t, cmd.Start())
	must(t, write.Close())
	lines := bufio.NewScanner(read)
	for lines.Scan() && !strings.Contains(lines.Text(), "asks: turn 1") {
	}
	if !running(t, temp) {
		t.Error("nothing ran that could be left behind")
	}
	must(t, read.Close())
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v: %s", err, &stderr)
	}
	if !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("it said %q", stderr.String())
	}
	nothingLeft(t, temp)
}

// TestADemoWhoseTerminalIsClosedLeavesNothing hangs up more than once, as a
// shell and the kernel do.
func TestADemoWhoseTerminalIsClosedLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd, temp := program(t)
	withClaude(t, cmd)
	// What is read here and what the command's own goroutine copies are apart.
	var out, stderr bytes.Buffer
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(&out, lines.Text())
		if strings.Contains(lines.Text(), "asks: turn 1") || strings.Contains(lines.Text(), "stopped early") {
			must(t, cmd.Process.Signal(syscall.SIGHUP))
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v:\n%s%s", err, &out, &stderr)
	}
	nothingLeft(t, temp)
}

// TestTheDemoRunsTheInstalledClaude has one nowhere but where deckhand claude
// install puts it.
func TestTheDemoRunsTheInstalledClaude(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	installed := runner.InstalledClaude(state)
	must(t, os.MkdirAll(filepath.Dir(installed), 0o700))
	must(t, os.Symlink(rig.Claude(t), installed))
	cmd, temp := program(t, "--state-dir", state)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "2 sessions") {
		t.Errorf("the demo ended with %v:\n%s", err, out)
	}
	nothingLeft(t, temp)
}

// TestWhatIsWrongWithTheDemoIsSaidOnce: in the story or by the command.
func TestWhatIsWrongWithTheDemoIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		says  string
		code  int
	}{
		"empty": {nil, "at least two text files", 2},
		"mute":  {[]string{"lighthouse.txt", "keeper.txt"}, "no file holds one of the words", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range c.files {
				must(t, os.WriteFile(filepath.Join(dir, file), []byte("x\n"), 0o600))
			}
			cmd, temp := program(t, dir)
			withClaude(t, cmd)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != c.code {
				t.Errorf("it ended with %v", err)
			}
			if strings.Count(string(out), c.says) != 1 {
				t.Errorf("%q is not said once:\n%s", c.says, out)
			}
			nothingLeft(t, temp)
		})
	}
}

func naming(t *testing.T, temp string) []process.Process {
	t.Helper()
	all, err := process.List()
	must(t, err)
	return slices.DeleteFunc(process.Naming(all, temp), func(p process.Process) bool { return p.Ended })
}

func running(t *testing.T, temp string) bool {
	t.Helper()
	return len(naming(t, temp)) > 0
}

func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if left := naming(t, temp); len(left) > 0 {
		t.Errorf("still running: %+v", left)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
