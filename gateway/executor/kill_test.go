package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/crash"
	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// Environment of a process of this test program that writes and is killed: the
// world it is in, the number of the deed and the point.
const (
	killedIn = "EXECUTOR_TEST_KILLED_IN"
	killedAt = "EXECUTOR_TEST_KILLED_AT"
)

// killing is a disk that kills the process at a point.
type killing struct {
	disk
	at crash.Point
}

func (k killing) reach(at crash.Point) {
	if at == k.at {
		_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
		select {}
	}
}

// writeAndBeKilled is the whole of such a process.
func writeAndBeKilled(base string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	paths, err := protected.New(protected.Config{Home: base + "/people/me", State: base + "/state"})
	fail(err)
	e, err := New(Config{Protected: paths})
	fail(err)
	e.disk = killing{realDisk{}, crash.Point(os.Getenv(killedAt))}
	scope := Scope{Profile: turn.DirectWrite, Subagent: turn.NoSubagent, WorkingDirectory: base + "/work", Root: base + "/work"}
	sink := Sink{Action: turn.NewActionID(), Prepare: func(w turn.WriteIntent, _ []byte) error {
		raw, err := json.Marshal(w)
		if err != nil {
			return err
		}
		return os.WriteFile(base+"/intent", raw, 0o600)
	}}
	r := e.Run(context.Background(), scope, turn.ToolCall{Name: "Write", Arguments: []byte(`{"file_path":"a/e.txt","content":"two\n"}`)}, sink)
	fmt.Fprintln(os.Stderr, r.Text)
	os.Exit(2)
}

// TestKilledAtEveryPoint kills a whole process at each named point.
func TestKilledAtEveryPoint(t *testing.T) {
	for _, create := range []bool{true, false} {
		for _, at := range crash.WritePoints() {
			f := newFixture(t).writing()
			if !create {
				f.write("work/a/e.txt", "one\n")
			}
			before := tree(t, f.work)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), killedIn+"="+f.base, killedAt+"="+string(at))
			out, err := cmd.CombinedOutput()
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
				t.Fatalf("%s: it was not killed: %v: %s", at, err, out)
			}
			raw, err := os.ReadFile(filepath.Join(f.base, "intent"))
			if at == crash.BeforePrepare {
				if err == nil {
					t.Errorf("%s: it was prepared", at)
				}
				if d := differences(before, tree(t, f.work)); d != "" {
					t.Errorf("%s: %s", at, d)
				}
				continue
			}
			var w turn.WriteIntent
			if err == nil {
				err = json.Unmarshal(raw, &w)
			}
			if err != nil {
				t.Fatal(err)
			}
			state, found := f.e.Settle(w)
			done := at == crash.AfterRename || at == crash.BeforeReceipt
			if done != (state == turn.WriteDone) || !done && state != turn.WriteNotDone {
				t.Errorf("%s: settled as %s: %s", at, state, found)
			}
			if d := differences(before, tree(t, f.work)); !done && d != "" {
				t.Errorf("%s: %s", at, d)
			}
			if done && f.read("work/a/e.txt") != "two\n" {
				t.Errorf("%s: %q", at, f.read("work/a/e.txt"))
			}
			f.noTemporary()
		}
	}
}
