//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"os"
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
