package main

import (
	"context"

	"github.com/spf13/cobra"

	"deckhand/gateway/control"
	"deckhand/gateway/session"
	"deckhand/tray"
)

func (a *app) recoverCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "recover ID",
		GroupID: groupAct,
		Short:   "Print the prompt with which a new chat takes a session over",
		Long: `Print the prompt with which a new chat takes a session over: paste it into
ChatGPT. The chat that had the session before can then no longer answer it.

The prompt holds the session's recovery token. Nothing changes until ChatGPT
uses it.`,
		Example: `  deckhand recover 4k2m
  deckhand recover 4k2m | pbcopy`,
		Args:              one,
		ValidArgsFunction: a.completeID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withView(cmd, func(ctx context.Context, v *view) error { return a.recovery(ctx, v, args[0]) })
		},
	}
}

func (a *app) recovery(ctx context.Context, v *view, arg string) error {
	found, err := v.resolve(ctx, arg)
	if err != nil {
		return err
	}
	prompt, err := recoveryPrompt(ctx, v, found)
	if err != nil {
		return err
	}
	if isTerminal(a.stdio.Out) {
		a.notef("Paste this into a new chat. It holds the token of the session: show it to nobody else.\n\n")
	}
	a.printf("%s", prompt)
	if v.live == nil {
		a.notef("\nnote: no gateway is running; start one before you paste it: deckhand serve\n")
	}
	return nil
}

// recoveryPrompt is the prompt with which a new chat takes a session over. It
// holds the session's recovery token.
func recoveryPrompt(ctx context.Context, from source, found session.Summary) (string, error) {
	token, err := from.RecoveryToken(ctx, found.SessionID)
	if err != nil {
		return "", err
	}
	return printable(control.RecoveryPrompt(found.SessionID, token, tray.Clean(found.Label))), nil
}

func (a *app) promptCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "prompt",
		GroupID: groupAct,
		Short:   "Print the words that start ChatGPT off",
		Long: `Print the words that start ChatGPT off: paste them into a new chat in which
Deckhand is switched on, and add what you want done.`,
		Example: `  deckhand prompt
  deckhand prompt | xclip -selection clipboard`,
		Args: none,
		RunE: func(*cobra.Command, []string) error {
			a.printf("%s", control.StarterPrompt())
			return nil
		},
	}
}
