package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/app/demo"
)

func (a *app) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "demo [DIR]",
		GroupID: groupRun,
		Short:   "Watch a scripted ChatGPT drive the real Claude Code",
		Long: `Watch a scripted ChatGPT drive the real Claude Code through a read-only session,
with the gateway killed and started again in between. It needs no account, asks
no model, changes nothing, and leaves nothing behind.

Without DIR it looks at a small sample project that comes with Deckhand.`,
		Example: `  deckhand demo
  deckhand demo ~/src/shop`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return withHint(usagef("deckhand demo takes one directory"), "see deckhand demo --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find own program: %w", err)
			}
			return demo.Run(cmd.Context(), demo.Options{
				Dir: strings.Join(args, ""), Self: self, Claude: s.Claude,
				Out: a.stdio.Out, Color: bool(a.paint()),
				// Nobody but the demo's own script can reach its gateway, and
				// that only reads.
				AllowRoot: os.Geteuid() == 0,
			})
		},
	}
	claude := settingOf("claude")
	cmd.Flags().String(claude.flag, "", claude.usage)
	return cmd
}
