package main

import (
	"os"

	"github.com/spf13/cobra"

	"deckhand/gateway/command"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/shim"
)

// stage runs the program inside a sandbox, or for the login shell, if that is
// what it was started as. It comes before everything else: nothing but those
// packages may run there, and every command waits for it.
func stage(args []string) (code int, ok bool) {
	switch {
	case len(args) > 0 && args[0] == "stage":
		return sandbox.Stage(args[1:]), true
	case len(args) == 2 && args[0] == "environment":
		if err := command.PrintEnvironment(os.Stdout, args[1], os.Environ()); err != nil {
			return exitFailed, true
		}
		return 0, true
	}
	return 0, false
}

// shimCommand is how the gateway starts the process that stays with one run.
func (a *app) shimCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "shim --run DIR",
		Short:  "Stay with one run of Claude Code; started by the gateway",
		Hidden: true,
		Args:   none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usagef("shim: --run is missing; this command is for deckhand itself")
			}
			return shim.Main(cmd.Context(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "run", "", "directory of the run")
	return cmd
}
