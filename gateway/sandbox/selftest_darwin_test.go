package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
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

// Without a sandbox what must fail succeeds: the self-test is not vacuous.
func TestCanariesGetOutWhereNothingHoldsThem(t *testing.T) {
	ground, err := newCanaryGround(WholeSystem)
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "stage", canariesArg, ground.task.HostTCP)
	cmd.Env = []string{"SECRET_OF_THE_PARENT=1"}
	extra, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = in, out, []*os.File{extra}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var results []canaryResult
	if err := json.Unmarshal(text, &results); err != nil || len(results) != len(canaries) {
		t.Fatalf("%d results of %d canaries: %v", len(results), len(canaries), err)
	}
	for i, r := range results {
		if canaries[i].want == mustFail && r.Error != "" {
			t.Errorf("%s: failed outside too: %s", r.Name, r.Error)
		}
	}
	if !locked(t, ground.task.Writable) {
		t.Error("there is no daemon that holds the lock")
	}
	// It ends by itself within a minute; its file goes now.
}
