package main

import (
	"github.com/spf13/cobra"

	"deckhand/gateway/sandbox"
	"deckhand/gateway/shim"
)

// stage runs the program inside a sandbox, if that is what it was started as.
// It comes before everything else: nothing but the sandbox package may run
// there, and every command waits for it.
func stage(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != "stage" {
		return 0, false
	}
	return sandbox.Stage(args[1:]), true
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
