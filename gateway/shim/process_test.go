package shim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// claudePIDs finds the Claude Codes of this rig by what they run and by their
// home.
func (r *rig) claudePIDs() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		exe, _ := os.Readlink(filepath.Join("/proc", e.Name(), "exe"))
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if exe == r.spec.Claude && bytes.Contains(env, []byte(r.runner.Home(r.spec.Session))) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (r *rig) killClaude() {
	r.t.Helper()
	pids := r.claudePIDs()
	if len(pids) != 1 {
		r.t.Fatalf("found Claude Code %d times", len(pids))
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
}

// gone waits for the end of every Claude Code of this rig: the sandbox of a
// killed shim ends a moment after it.
func (r *rig) gone() {
	r.t.Helper()
	for range 200 {
		if len(r.claudePIDs()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Error("Claude Code outlives its shim")
}

// shimPID finds the shim by its arguments.
func (r *rig) shimPID() int {
	r.t.Helper()
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.HasPrefix(args, []byte("deckhand\x00shim\x00")) && bytes.Contains(args, []byte(r.spec.Run)) {
			return pid
		}
	}
	r.t.Fatal("no shim")
	return 0
}

// claudeOutput returns the kinds of lines that Claude Code printed.
func (r *rig) claudeOutput() string {
	r.t.Helper()
	raw, err := os.ReadFile(r.runner.Dir(r.spec.Run).Stdout())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func itoa(n int) string { return strconv.Itoa(n) }
