package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
)

func (a *app) tokenCommand() *cobra.Command {
	var rotate bool
	cmd := &cobra.Command{
		Use:     "token",
		GroupID: groupAct,
		Short:   "Print the token of the local address",
		Long: `Print the token that MCP clients on this machine show to the local address, as
"Authorization: Bearer TOKEN". Whoever has it can start sessions.

With --rotate a new one is made first, and the old one stops working at once.`,
		Example: `  deckhand token
  curl -H "Authorization: Bearer $(deckhand token)" http://127.0.0.1:7341/mcp …
  deckhand token --rotate`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.load(cmd)
			if err != nil {
				return err
			}
			token, err := a.token(cmd.Context(), s, rotate)
			if err != nil {
				return err
			}
			a.printf("%s\n", token)
			return nil
		},
	}
	cmd.Flags().BoolVar(&rotate, "rotate", false, "make a new token first")
	return cmd
}

// token asks the running gateway, which must learn of a rotation at once, and
// only without one reads or replaces the file.
func (a *app) token(ctx context.Context, s Settings, rotate bool) (string, error) {
	switch err := checkState(s.StateDir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", noState(s)
	case err != nil:
		return "", err
	}
	client, _, err := a.dial(ctx, s)
	switch {
	case err == nil && rotate:
		return client.RotateToken(ctx)
	case err == nil:
		return client.Token(ctx)
	case !errors.Is(err, admin.ErrNotRunning):
		return "", err
	}
	file := admin.LocalTokenPath(s.StateDir)
	secret, err := file.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return "", noState(s)
	}
	if err == nil && rotate {
		secret, err = file.Rotate()
	}
	return secret.Reveal(), err
}
