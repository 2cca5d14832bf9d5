package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"deckhand/app/demo"
	"deckhand/gateway/runner"
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
			// The demo's gateway has a state directory of its own; one that
			// deckhand claude install made lies in the user's.
			found, err := runner.FindClaude(runner.FindConfig{
				Path: s.Claude, Data: s.StateDir, Home: a.env["HOME"], Search: a.search()})
			if err != nil {
				return err
			}
			ctx, release := untilNobodyWatches(cmd.Context())
			defer release()
			err = demo.Run(ctx, demo.Options{
				Dir: strings.Join(args, ""), Self: self, Claude: found.Path,
				Out: a.stdio.Out, Color: bool(a.paint()),
				// Nobody but the demo's own script can reach its gateway, and
				// that only reads.
				AllowRoot: os.Geteuid() == 0,
			})
			if unfit, ok := errors.AsType[*demo.UnfitError](err); ok {
				return withHint(usageError{unfit}, "without DIR the demo looks at a sample project")
			}
			return err
		},
	}
	claude := settingOf("claude")
	cmd.Flags().String(claude.flag, "", claude.usage)
	return cmd
}

// untilNobodyWatches ends ctx when the terminal is closed, and turns the signal
// for a pipe without a reader into an error of the write: the demo has to live
// on until what it started has ended.
func untilNobodyWatches(ctx context.Context) (_ context.Context, release func()) {
	// Noted and not ignored: what is ignored stays so in the programs that the
	// demo starts. Nothing reads the channel.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	stop := func() {}
	// nohup asks for a demo that goes on.
	if !signal.Ignored(syscall.SIGHUP) {
		// A closed terminal sends it more than once, so it stays caught during
		// the cleanup.
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx, func() {
		stop()
		signal.Stop(pipe)
	}
}
