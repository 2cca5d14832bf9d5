//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Stage is the hidden subcommand that is the first process of a sandbox, and,
// with the argument "canaries", the command of the self-test. It returns the
// exit status.
func Stage(args []string) int {
	var err error
	switch {
	case len(args) == 0:
		err = stage()
	case len(args) == 2 && args[0] == canariesArg:
		err = runCanaries(os.Stdin, os.Stdout, args[1])
	case len(args) == 1 && args[0] == lingerArg:
		linger()
	default:
		err = errors.New("this subcommand is for deckhand itself")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "deckhand stage:", err)
		return 2
	}
	return 0
}

// start runs the command with exactly its own environment and three
// descriptors. What the stage was confined to it inherits.
func start(t task) (pid int, err error) {
	pid, err = syscall.ForkExec(t.Path, append([]string{t.Path}, t.Args...), &syscall.ProcAttr{
		Dir:   t.Dir,
		Env:   t.Env,
		Files: []uintptr{stdinFD, stdoutFD, stderrFD},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s in %s: %w", t.Path, t.Dir, err)
	}
	// A pipe must end when the command closes it, not when the stage does.
	for _, fd := range []int{stdinFD, stdoutFD, stderrFD} {
		unix.Close(fd)
	}
	return pid, nil
}
