package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSelfTestPassesHere(t *testing.T) {
	// A descriptor as a careless parent leaves it: it passes every exec.
	leak, err := unix.Open(os.DevNull, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	if err := launcher(t).SelfTest(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Without a sandbox every attempt that must fail succeeds: what the self-test
// says is not vacuous.
func TestCanariesGetOutWhereNothingHoldsThem(t *testing.T) {
	for _, view := range []View{BaseSystem, WholeSystem} {
		canariesGetOut(t, view)
	}
}

func canariesGetOut(t *testing.T, view View) {
	t.Helper()
	ground, err := newCanaryGround(view)
	if err != nil {
		t.Fatal(err)
	}
	defer ground.close()
	in, out, err := ground.files()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	extra := tempFile(t, "")

	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "stage", canariesArg, ground.task.HostTCP)
	cmd.Env = append([]string{"SECRET_OF_THE_PARENT=1"}, probeEnv...)
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = in, out, []*os.File{extra}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	defer endDaemon(t, filepath.Join(ground.task.Writable, "lock"))

	results := decode[[]canaryResult](t, contents(t, out))
	if len(results) != len(canaries) {
		t.Fatalf("%d results of %d canaries", len(results), len(canaries))
	}
	for _, r := range results {
		if r.Error != "" && (view == WholeSystem || r.Name != "write into a FIFO of the host") {
			t.Errorf("%s: failed outside too: %s", r.Name, r.Error)
		}
	}
	if err := ground.look(); err == nil {
		t.Error("the host does not see what the canaries left")
	}
	if err := os.Remove(ground.task.Outside + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := ground.look(); err == nil || !strings.Contains(err.Error(), "daemon") {
		t.Errorf("the host does not see the daemon: %v", err)
	}
}

// endDaemon ends the process that holds the lock.
func endDaemon(t *testing.T, lock string) {
	t.Helper()
	var want unix.Stat_t
	if err := unix.Stat(lock, &want); err != nil {
		t.Fatal(err)
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/3")
	for _, fd := range fds {
		var got unix.Stat_t
		if unix.Stat(fd, &got) != nil || got.Dev != want.Dev || got.Ino != want.Ino {
			continue
		}
		var pid int
		if err := json.NewDecoder(strings.NewReader(strings.Split(fd, "/")[2])).Decode(&pid); err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the daemon is not there")
}

func TestJudgeRefusesEachWrongResult(t *testing.T) {
	good := func() []canaryResult {
		var results []canaryResult
		for _, c := range canaries {
			r := canaryResult{Name: c.name}
			if c.want == mustFail {
				r.Error = "permission denied"
			}
			results = append(results, r)
		}
		return results
	}
	if err := judge(good()); err != nil {
		t.Fatal(err)
	}
	for i, c := range canaries {
		bad := good()
		if bad[i].Error == "" {
			bad[i].Error = "x"
		} else {
			bad[i].Error = ""
		}
		if err := judge(bad); (err == nil) != (c.want == hostLooks) {
			t.Errorf("%s turned around: %v", c.name, err)
		}
	}
	if judge(good()[1:]) == nil {
		t.Error("a canary that did not report was not missed")
	}
}
