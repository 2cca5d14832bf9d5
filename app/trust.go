package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) trustCommand() *cobra.Command {
	list := a.trustListCommand()
	cmd := &cobra.Command{
		Use:     "trust",
		GroupID: groupAct,
		Short:   "Look at the folders that you trust, and take trust back",
		Long: `Look at the folders that you trust, and take trust back.

With the policy "ask_once" your first approval in a folder counts for later
sessions of the same kind there: they start without asking you. Without a
command the trusted folders are listed.`,
		Example: `  deckhand trust
  deckhand trust revoke ~/src/shop
  deckhand trust revoke --all`,
		Args: list.Args,
		RunE: list.RunE,
	}
	a.withJSON(cmd)
	cmd.AddCommand(list, a.trustRevokeCommand())
	return cmd
}

func (a *app) trustListCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the trusted folders",
		Example: `  deckhand trust list
  deckhand trust list --json | jq -r '.[].folder'`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withView(cmd, func(ctx context.Context, v *view) error {
				trusts, err := v.Trusts(ctx)
				if err != nil {
					return err
				}
				return a.printTrusts(trusts)
			})
		},
	})
}

func (a *app) trustRevokeCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "revoke FOLDER | --all",
		Short: "Take back the trust in a folder, or in all",
		Long: `Take back the trust in a folder, or in all: the next session that wants to write
there asks you again. Sessions that exist go on; deckhand stop ends one.`,
		Example: `  deckhand trust revoke ~/src/shop
  deckhand trust revoke .
  deckhand trust revoke --all`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || all == (len(args) == 1) {
				return withHint(usagef("%s takes one folder, or --all", cmd.CommandPath()), "deckhand trust lists them")
			}
			return nil
		},
		ValidArgsFunction: a.completeTrust,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHands(cmd, func(ctx context.Context, h hands) error {
				if all {
					return a.revoked(h.RevokeAllTrust(ctx))
				}
				return a.revoked(revokeFolder(ctx, h, args[0]))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "take back the trust in every folder")
	return a.withJSON(cmd)
}

// revokeFolder finds the folder that arg names, as it is written or where it
// leads: the trusted folder may be gone, and trust is in real paths.
func revokeFolder(ctx context.Context, h hands, arg string) ([]session.Trust, error) {
	folder, err := filepath.Abs(arg)
	if err != nil {
		return nil, fmt.Errorf("resolve folder: %w", err)
	}
	revoked, err := h.RevokeTrust(ctx, folder)
	if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Code != turn.NotTrusted {
		return revoked, err
	}
	if real, broken := filepath.EvalSymlinks(folder); broken == nil && real != folder {
		revoked, err = h.RevokeTrust(ctx, real)
	}
	if err != nil {
		err = withHint(err, "deckhand trust lists the folders that are")
	}
	return revoked, err
}

func (a *app) revoked(trusts []session.Trust, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(trusts)
	}
	if len(trusts) == 0 {
		a.printf("No folder was trusted.\n")
	}
	for _, t := range trusts {
		a.printf("no longer trusted: %s  (%s)\n", a.home(t.Folder), tray.Profile(string(t.Profile)))
	}
	return nil
}

func (a *app) printTrusts(trusts []session.Trust) error {
	if a.json {
		return a.printJSON(trusts)
	}
	if len(trusts) == 0 {
		a.printf("No folder is trusted.\n")
		return nil
	}
	folder, may, since := column{title: "FOLDER"}, column{title: "A SESSION THERE"}, column{title: "TRUSTED"}
	for _, t := range trusts {
		folder.cells = append(folder.cells, a.home(t.Folder))
		may.cells = append(may.cells, tray.Profile(string(t.Profile)))
		since.cells = append(since.cells, tray.Ago(t.Since, a.now()))
	}
	a.table(folder, may, since)
	return nil
}

// completeTrust offers the trusted folders to a shell.
func (a *app) completeTrust(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var folders []string
	err := a.withView(cmd, func(ctx context.Context, v *view) error {
		trusts, err := v.Trusts(ctx)
		for _, t := range trusts {
			if n := len(folders); n == 0 || folders[n-1] != t.Folder {
				folders = append(folders, t.Folder)
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return folders, cobra.ShellCompDirectiveNoFileComp
}
