// Package ordinary runs the tests of a package once more as an ordinary user,
// whom the system keeps from more than root, and who has other ways to fail. It is
// for tests alone, which are run by root on most build machines.
//
// Not covered: making the folder that the user works in. Who calls decides what
// lies where, and who may go there.
package ordinary

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// User is a user id, and a group id, that no system gives out.
const User = 61500

// Tests are the tests of the running binary that are run again.
type Tests struct {
	// Binary is where the copy of the test binary goes: the user has to be able
	// to reach it, and it must not be there.
	Binary string
	// Dir is the user's working directory.
	Dir string
	// Env is the whole environment.
	Env []string
	// Args are arguments of the test binary, beside -test.v.
	Args []string
	// Must are tests that have to run and pass; others may as well.
	Must []string
}

// Run runs the tests and fails t if one of them fails, or did not run and had to.
func (r Tests) Run(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	CopyProgram(t, self, r.Binary)
	cmd := exec.CommandContext(t.Context(), r.Binary, append([]string{"-test.v"}, r.Args...)...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: User, Gid: User}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range r.Must {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
}

// CopyProgram copies a program to a place where there is nothing yet.
func CopyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
