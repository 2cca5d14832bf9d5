package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"deckhand/gateway"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		GroupID: groupRun,
		Short:   "Run the gateway until it is interrupted",
		Long: `Run the gateway until it is interrupted. Runs of Claude Code go on without it:
the next gateway takes them up where they are.`,
		Example: `  deckhand serve
  deckhand serve --listen 127.0.0.1:0 --state-dir /tmp/try
  deckhand serve --lease 30m --log-level debug`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := cmd.Flags().GetBool("allow-root")
			if err != nil {
				return err
			}
			s, err := a.load(cmd)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), s, root, false)
		},
	}
	serveFlags(cmd, false)
	return cmd
}

// serveFlags adds the flags of serve; hidden ones work and are not in the help.
func serveFlags(cmd *cobra.Command, hidden bool) {
	flags := cmd.Flags()
	for _, s := range settings {
		if s.flag != "" && s.flag != "state-dir" {
			flags.String(s.flag, "", s.usage)
		}
	}
	flags.Bool("allow-root", false, "run as root, where the sandbox holds less")
	if hidden {
		for _, s := range settings {
			if s.flag != "" && s.flag != "state-dir" {
				flags.Lookup(s.flag).Hidden = true
			}
		}
		flags.Lookup("allow-root").Hidden = true
	}
}

// refuseRoot keeps the gateway from running as root by accident.
func refuseRoot(uid int, allowed bool) error {
	if uid == 0 && !allowed {
		return withHint(usagef("refusing to run as root: ChatGPT could read the whole machine"),
			"run it as yourself, or with --allow-root on a machine that holds nothing else")
	}
	return nil
}

// serve runs the gateway until ctx ends, with a menu if withMenu is set and there
// is a desktop to show it on.
func (a *app) serve(ctx context.Context, s Settings, allowRoot, withMenu bool) (err error) {
	if err := refuseRoot(os.Geteuid(), allowRoot); err != nil {
		return err
	}
	if err := makeState(s.StateDir); err != nil {
		return err
	}
	// Asked before the log is opened, which is the running gateway's own. The
	// ledger's lock is what really keeps a second one out.
	if client, status, err := a.dial(ctx, s); err == nil {
		if withMenu {
			return a.greet(ctx, client, status)
		}
		return withHint(&gateway.RunningError{Status: status}, "look at it with: deckhand sessions")
	}
	log, closeLog, err := openLog(s, a.stdio)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	cfg, err := a.gatewayConfig(s)
	if err != nil {
		return err
	}
	cfg.Log = log
	log.Info("starting", "version", cfg.Version)
	var desk *desk
	if withMenu {
		if desk, err = a.newDesk(s, log); err != nil {
			log.Info("no menu is shown", "reason", err)
			a.notef("note: no menu is shown: %s\n", err)
		} else {
			cfg.OnGreet = desk.greeted
		}
	}
	g, err := gateway.New(ctx, cfg)
	if running, ok := errors.AsType[*gateway.RunningError](err); ok {
		// Its words name a process, which a log does not.
		log.Error("not started: another gateway runs")
		return running
	}
	if err != nil {
		log.Error("not started", "err", err)
		return explainTaken(err)
	}
	a.announce(s, g.LocalAddr())
	warned := make(chan struct{})
	go func() {
		defer close(warned)
		a.warn(ctx, g, log)
	}()
	if desk != nil {
		err = desk.run(ctx, g)
	} else {
		err = g.Run(ctx)
	}
	<-warned
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("ended", "err", err)
		return err
	}
	log.Info("ended")
	return nil
}

// warn says what keeps sessions from starting. It asks the gateway beside Run,
// because that tests the sandbox, which takes a moment.
func (a *app) warn(ctx context.Context, g *gateway.Gateway, log *slog.Logger) {
	status, err := g.Status(ctx)
	if err != nil || ctx.Err() != nil {
		return
	}
	p := a.paint()
	for _, w := range status.Warnings {
		log.Warn("not ready", "warning", w)
		a.printf("%s\n", p.yellow("▲ "+printable(w)))
	}
	if len(status.Warnings) > 0 {
		a.printf("  deckhand doctor says what to do\n")
	}
}

// explainTaken adds what to do when another program has the address.
func explainTaken(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return withHint(err, "another program has that address: end it, or choose a free one with --listen 127.0.0.1:0 and --connector-listen 127.0.0.1:0")
}

// announce tells a person where the gateway listens and how to go on.
func (a *app) announce(s Settings, address string) {
	p := a.paint()
	a.printf("%s\n", p.bold("Deckhand "+version()+" is running."))
	a.printf("  MCP address  http://%s/mcp\n", address)
	a.printf("  token        deckhand token\n")
	a.printf("  sessions     deckhand sessions\n")
	a.printf("  log          %s\n", a.home(logPath(s.StateDir)))
	a.printf("%s\n", p.dim("Ctrl-C ends the gateway; runs of Claude Code go on."))
}
