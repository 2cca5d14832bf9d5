package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// app is one call of the program: what it was given, and what the persistent
// flags say.
type app struct {
	stdio Stdio
	env   map[string]string
	now   func() time.Time

	config string
	color  string
	json   bool
}

// run runs one command line. Whatever goes wrong is the error; report prints
// it.
func run(ctx context.Context, args, env []string, stdio Stdio) error {
	a := &app{stdio: stdio, env: environment(env), now: time.Now}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) error {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdio.Out)
	root.SetErr(a.stdio.Err)
	return root.ExecuteContext(ctx)
}

const (
	groupLook = "look"
	groupAct  = "act"
	groupRun  = "run"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "deckhand",
		Short: "ChatGPT thinks, Claude Code works, you hold the brake",
		Long: `Deckhand is a gateway through which ChatGPT on the web drives real Claude Code
sessions on this machine. Everything that happens is written down first, and
you can look at it and stop it at any time.

Without a command it runs the gateway and shows its menu in the menu bar or
tray; "deckhand serve" runs the gateway alone.`,
		Example: `  deckhand                     run the gateway with its menu
  deckhand sessions            what is going on
  deckhand approve             let the session start that asks you
  deckhand stop 4k2m           end the run of session ses_4k2m…
  deckhand undo 4k2m           take back what it wrote
  deckhand doctor              what works, what does not, and what to do`,
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "deckhand --help lists the commands"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean: deckhand " + strings.Join(near, ", deckhand ")
			}
			return withHint(usagef("there is no command %q", args[0]), "%s", hint)
		},
	}
	root.SetVersionTemplate("deckhand {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return withHint(usageError{err}, "see %s --help", cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.config, "config", "", "settings file")
	flags.String("state-dir", "", settingOf("state-dir").usage)
	flags.StringVar(&a.color, "color", "auto", "auto, always or never")
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupAct, Title: "Act:"},
		&cobra.Group{ID: groupRun, Title: "Run:"})
	root.SetHelpCommandGroupID(groupLook)
	root.SetCompletionCommandGroupID(groupRun)

	serve := a.serveCommand()
	root.RunE = a.runWithMenu
	root.Flags().Bool("no-tray", false, "run the gateway without a menu, as deckhand serve does")
	serveFlags(root, true)
	root.AddCommand(serve, a.demoCommand(), a.claudeCommand(), a.shimCommand(),
		a.sessionsCommand(), a.showCommand(), a.logCommand(), a.doctorCommand(), a.protectedCommand(), a.configCommand(), a.versionCommand(),
		a.approveCommand(), a.denyCommand(), a.undoCommand(), a.trustCommand(), a.worktreesCommand(), a.pruneCommand(),
		a.pauseCommand(), a.resumeCommand(), a.askCommand(), a.awakeCommand(), a.loginCommand(), a.quitCommand(),
		a.stopCommand(), a.recoverCommand(), a.promptCommand(), a.tokenCommand())
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains([]string{"auto", "always", "never"}, a.color) {
			return usagef("--color: %q is none of auto, always and never", a.color)
		}
		return nil
	}
	return root
}

// settingOf returns the setting that a flag sets.
func settingOf(flag string) setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.flag == flag })
	return settings[i]
}

// withJSON adds the flag of every command that can print for a program.
func (a *app) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON for a program")
	return cmd
}

// load reads the settings as the flags of cmd change them.
func (a *app) load(cmd *cobra.Command) (Settings, error) { return a.loadFrom(cmd, false) }

// loadWithoutFile is load as if there were no settings file.
func (a *app) loadWithoutFile(cmd *cobra.Command) (Settings, error) { return a.loadFrom(cmd, true) }

func (a *app) loadFrom(cmd *cobra.Command, withoutFile bool) (Settings, error) {
	in := inputs{env: a.env, config: a.config, withoutFile: withoutFile, flags: map[string]string{}}
	for _, s := range settings {
		f := cmd.Flags().Lookup(s.flag)
		if s.flag == "" || f == nil || !f.Changed {
			continue
		}
		value := f.Value.String()
		// The shell completes paths as they are typed: relative to where one is.
		if value != "" && !filepath.IsAbs(value) && (s.key == "state_dir" || s.key == "claude") {
			abs, err := filepath.Abs(value)
			if err != nil {
				return Settings{}, fmt.Errorf("resolve --%s: %w", s.flag, err)
			}
			value = abs
		}
		in.flags[s.key] = value
	}
	return in.load()
}

// paint says whether stdout takes colours.
func (a *app) paint() paint {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return paint(isTerminal(a.stdio.Out) && a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb")
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdio.Out, format, args...) }

// notef tells a person something beside the output.
func (a *app) notef(format string, args ...any) { fmt.Fprintf(a.stdio.Err, format, args...) }

// none refuses arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return withHint(usagef("%s takes no argument, got %q", cmd.CommandPath(), args[0]), "see %s --help", cmd.CommandPath())
	}
	return nil
}

// one takes exactly one session.
func one(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return withHint(usagef("%s takes one session", cmd.CommandPath()),
			"name it by its id, or by as much of it as no other has; deckhand sessions lists them")
	}
	return nil
}

// atMostOne takes a session or none.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return one(cmd, args)
	}
	return nil
}
