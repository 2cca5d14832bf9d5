package worktree

import (
	"context"
	"deckhand/gateway/turn"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deckhand/gateway/protected"
)

// script makes a program that stands in for git.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func keeperOf(t *testing.T, cfg Config) (*Keeper, error) {
	t.Helper()
	home := t.TempDir()
	paths, err := protected.New(protected.Config{Home: home, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Scratch, cfg.Protected = filepath.Join(home, "scratch"), paths
	return New(t.Context(), cfg)
}

func TestOnlyAGitThatCanDoItIsTaken(t *testing.T) {
	for version, good := range map[string]bool{
		"git version 2.39.5": true, "git version 2.38.0": true, "git version 2.50.1 (Apple Git-155)": true, "git version 3.0.0": true,
		"git version 2.37.9": false, "git version 1.99": false, "hello": false, "": false,
	} {
		_, err := keeperOf(t, Config{Git: script(t, "echo '"+version+"'\n")})
		if good && err != nil {
			t.Errorf("%q: %v", version, err)
		}
		if !good {
			refused(t, err, turn.GitUnavailable)
		}
	}
	_, err := keeperOf(t, Config{Git: "/nonexistent/git"})
	refused(t, err, turn.GitUnavailable)
	_, err = keeperOf(t, Config{Git: script(t, "exit 1\n")})
	refused(t, err, turn.GitUnavailable)
	if _, err := New(t.Context(), Config{Scratch: "relative"}); err == nil {
		t.Error("a relative scratch directory is taken")
	}
	if _, err := New(t.Context(), Config{Scratch: t.TempDir()}); err == nil {
		t.Error("no rules about protected paths are needed")
	}
}

func TestAGitThatHangsEndsWithAllItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := &runner{git: script(t, "sleep 1000 & echo $! $$ >'"+pids+"'\nwait\n"), empty: t.TempDir(), timeout: 300 * time.Millisecond}
	if _, err := r.run(t.Context(), command{args: []string{"status"}}); err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("error: %v", err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		for alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
}

// alive reports whether a process runs; one that only waits to be reaped by
// its new parent does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return syscall.Kill(pid, 0) == nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

func TestACallThatIsGivenUpSaysSo(t *testing.T) {
	r := &runner{git: script(t, "exec sleep 1000\n"), empty: t.TempDir(), timeout: time.Minute}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if _, err := r.run(ctx, command{args: []string{"status"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	b := &bounded{left: 10}
	b.w = &b.buf
	if _, err := b.Write([]byte("123456789")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Write([]byte("ab")); !errors.Is(err, errOutputTooLong) || !errors.Is(b.err, errOutputTooLong) {
		t.Errorf("error: %v, %v", err, b.err)
	}
	r := &runner{git: script(t, "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3\n"), empty: t.TempDir(), timeout: time.Minute}
	_, err := r.run(t.Context(), command{args: []string{"status"}})
	if e, ok := errors.AsType[*exitError](err); !ok || e.code != 3 || len(e.stderr) != maxStderr {
		t.Errorf("error: %.200v", err)
	}
}

// A git that outlives the gateway keeps its worktree from others until it ends.
func TestAWorktreeIsHeldUntilTheLastGitHasEnded(t *testing.T) {
	end := filepath.Join(t.TempDir(), "end")
	k, err := keeperOf(t, Config{})
	if err != nil {
		t.Fatal(err)
	}
	held, release, err := k.hold(t.Context(), "ses_abcdefgh")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{git: script(t, "echo started\nwhile ! [ -e '"+end+"' ]; do sleep 0.01; done\n"), empty: t.TempDir(), timeout: time.Minute}
	done := make(chan error, 1)
	started := make(signal)
	go func() {
		_, err := r.run(t.Context(), command{args: []string{"status"}, held: held, stdout: started})
		done <- err
	}()
	<-started
	release()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := k.hold(ctx, "ses_abcdefgh"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("taken although git runs: %v", err)
	}
	if _, other, err := k.hold(t.Context(), "ses_otherone"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	_, again, err := k.hold(t.Context(), "ses_abcdefgh")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// signal is closed by the first thing that is written to it.
type signal chan struct{}

func (s signal) Write(p []byte) (int, error) {
	close(s)
	return len(p), nil
}
