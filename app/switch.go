package main

import (
	"context"

	"github.com/spf13/cobra"

	"deckhand/gateway/turn"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.switchTo(turn.PauseSwitch, true, &cobra.Command{
		Use:   "pause",
		Short: "Refuse new sessions until deckhand resume",
		Long: `Refuse new sessions until deckhand resume, also over restarts. Sessions that
exist go on; deckhand stop --all ends them.`,
		Example: `  deckhand pause
  deckhand resume`,
	})
}

func (a *app) resumeCommand() *cobra.Command {
	return a.switchTo(turn.PauseSwitch, false, &cobra.Command{
		Use:     "resume",
		Short:   "Let new sessions start again",
		Example: `  deckhand resume`,
	})
}

func (a *app) askCommand() *cobra.Command {
	return a.onOff(turn.AskSwitch, &cobra.Command{
		Use:   "ask on|off",
		Short: "Ask you before every session that writes, or as the settings say",
		Long: `With "on" every session that wants to write waits for your approval, also in
folders that you trusted before. With "off" the policies in the settings decide.`,
		Example: `  deckhand ask on
  deckhand ask off`,
	})
}

func (a *app) awakeCommand() *cobra.Command {
	return a.onOff(turn.AwakeSwitch, &cobra.Command{
		Use:   "awake on|off",
		Short: "Keep this computer awake while a session runs, or do not",
		Long: `With "on" this computer does not go to sleep by itself while a run is live. It
still sleeps when you close the lid or tell it to.`,
		Example: `  deckhand awake on
  deckhand awake off`,
	})
}

// onOff completes a command that turns a switch by its argument.
func (a *app) onOff(which turn.Switch, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID, cmd.ValidArgs = groupAct, []string{"on", "off"}
	cmd.Args = onOrOff
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withHands(cmd, func(ctx context.Context, h hands) error { return a.flip(ctx, h, which, args[0] == "on") })
	}
	return a.withJSON(cmd)
}

// onOrOff takes exactly one of the two.
func onOrOff(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] != "on" && args[0] != "off" {
		return withHint(usagef("%s takes on or off", cmd.CommandPath()), "see %s --help", cmd.CommandPath())
	}
	return nil
}

// switchTo completes a command that turns a switch one way.
func (a *app) switchTo(which turn.Switch, on bool, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID, cmd.Args = groupAct, none
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.withHands(cmd, func(ctx context.Context, h hands) error { return a.flip(ctx, h, which, on) })
	}
	return a.withJSON(cmd)
}

func (a *app) flip(ctx context.Context, h hands, which turn.Switch, on bool) error {
	s, err := h.Flip(ctx, which, on)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	a.printf("%s\n", switchWords[which][on])
	return nil
}

// switchWords says what holds after a switch was turned.
var switchWords = map[turn.Switch]map[bool]string{
	turn.PauseSwitch: {true: "Paused: no new session can start. Those that exist go on.", false: "New sessions can start."},
	turn.AskSwitch:   {true: "Every session that wants to write asks you first.", false: "The settings say when a session that wants to write asks you."},
	turn.AwakeSwitch: {true: "This computer stays awake while a session runs.", false: "This computer sleeps as it always does."},
}
