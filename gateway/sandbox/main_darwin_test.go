package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// These tests need a Mac: packaging/macos/verify-seatbelt.sh runs them there.

// TestMain lets the test binary stand in for deckhand, as the stage of a
// sandbox, and be the programs that the tests confine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "stage":
			os.Exit(Stage(os.Args[2:]))
		case "tree":
			os.Exit(treeMain(os.Args[2:]))
		case "daemon":
			signal.Ignore(unix.SIGTERM, unix.SIGHUP)
			time.Sleep(time.Minute)
			os.Exit(0)
		case "launch":
			os.Exit(launchMain(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// treeMain starts processes that each have a session of their own, ignore
// SIGTERM, are nobody's children a moment later, and hold the lock in dir. It
// says ready, and then waits, ends, or first kills or stops the stage.
func treeMain(args []string) int {
	dir, then := args[0], args[1]
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return complain(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		return complain(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return complain(err)
	}
	self, err := os.Executable()
	if err != nil {
		return complain(err)
	}
	for range count {
		cmd := exec.Command(self, "daemon")
		cmd.ExtraFiles = []*os.File{lock}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return complain(err)
		}
	}
	fmt.Println("ready")
	switch then {
	case "end":
		return 7
	case "kill":
		unix.Kill(os.Getppid(), unix.SIGKILL)
	case "stop":
		unix.Kill(os.Getppid(), unix.SIGSTOP)
	}
	signal.Ignore(unix.SIGTERM, unix.SIGHUP)
	time.Sleep(time.Minute)
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// launchMain starts a tree and waits for it: the launcher that a test kills.
func launchMain(dir string) int {
	l, err := ownLauncher()
	if err != nil {
		return complain(err)
	}
	p, err := l.Start(context.Background(), Policy{Writable: []string{dir}},
		Command{Path: l.self, Args: []string{"tree", dir, "wait", "3"}, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return complain(err)
	}
	p.Wait()
	return 0
}

func ownLauncher() (*Launcher, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Find(Config{Self: self})
}

func launcher(t *testing.T) *Launcher {
	t.Helper()
	l, err := ownLauncher()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ground is a directory of the user's home: what lies in temporary directories
// is hidden from commands anyway.
func ground(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, "deckhand-verify-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = kernelPath(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// put writes a file with the directories above it.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// locked reports whether a process holds the lock in dir.
func locked(t *testing.T, dir string) bool {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// startTree starts a confined treeMain and returns once it is complete.
func startTree(t *testing.T, l *Launcher, dir, then string, count int) *Process {
	t.Helper()
	put(t, filepath.Join(dir, "lock"), "")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := l.Start(t.Context(), Policy{Writable: []string{dir}},
		Command{Path: l.self, Args: []string{"tree", dir, then, strconv.Itoa(count)}, Stdout: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		t.Fatalf("the tree says %q, %v", line, err)
	}
	if then != "kill" && then != "end" && !locked(t, dir) {
		t.Fatal("the tree does not hold its lock")
	}
	return p
}
