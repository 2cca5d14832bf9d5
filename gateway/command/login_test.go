package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell makes a shell of a script. The command that a shell is given is "$4".
func shell(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func own(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func TestTheLoginShellTellsItsVariables(t *testing.T) {
	noisy := shell(t, `[ "$1 $2 $3" = "-l -i -c" ] || exit 1
echo "welcome HOME=/wrong"; echo motd >&2; [ -t 0 ] && echo "a terminal"
MULTI='two
lines'; export MULTI EMPTY=
PATH=/a:/b /bin/sh -c "$4"; echo bye; sleep 1000`)
	vars, err := askLogin(t.Context(), own(t), noisy, map[string]string{"HOME": "/h", "PATH": os.Getenv("PATH"), "GITHUB_TOKEN": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"PATH": "/a:/b", "HOME": "/h", "MULTI": "two\nlines", "EMPTY": "", "GITHUB_TOKEN": ""} {
		if vars[name] != want {
			t.Errorf("%s is %q, want %q", name, vars[name], want)
		}
	}
}

// Real shells, as far as they are here.
func TestRealShellsAreAsked(t *testing.T) {
	asked := 0
	for _, path := range []string{"/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/fish", "/bin/dash", "/bin/ksh", "/bin/tcsh"} {
		if !exists(path) {
			continue
		}
		home := t.TempDir()
		for _, rc := range []string{".profile", ".zshrc", ".bash_profile"} {
			if err := os.WriteFile(filepath.Join(home, rc), []byte("echo noise\nexport NVM_DIR=/from/profile\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		vars, err := askLogin(t.Context(), own(t), path, map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "SHELL": path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if vars["PATH"] == "" || (!strings.Contains(path, "fish") && !strings.Contains(path, "csh") && vars["NVM_DIR"] != "/from/profile") {
			t.Errorf("%s says PATH=%q, NVM_DIR=%q", path, vars["PATH"], vars["NVM_DIR"])
		}
		asked++
	}
	if asked == 0 {
		t.Error("no shell was there")
	}
}

func TestAShellThatTellsNothingIsNoReasonToFail(t *testing.T) {
	for name, path := range map[string]string{
		"nothing": shell(t, "exit 0"), "failure": shell(t, "exit 1"), "noise": shell(t, "yes"), "not there": "/no/such/shell", "none": "", "relative": "sh",
	} {
		if vars, err := askLogin(t.Context(), own(t), path, nil); err == nil {
			t.Errorf("%s: %v", name, vars)
		}
	}
}

// A shell that hangs is ended with everything in its group.
func TestAShellThatHangsIsEnded(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	hangs := shell(t, `trap "" TERM HUP; exec 9>"`+lock+`"; flock 9; echo ready; sleep 1000 & sleep 1000`)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && !held(lock); time.Sleep(10 * time.Millisecond) {
		}
		cancel(reason)
	}()
	if _, err := askLogin(ctx, own(t), hangs, map[string]string{"PATH": os.Getenv("PATH")}); !errors.Is(err, reason) {
		t.Errorf("it ended with %v", err)
	}
	for deadline := time.Now().Add(time.Minute); held(lock); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("something of the shell's is still there")
		}
	}
}

// held reports whether somebody holds the lock.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}
