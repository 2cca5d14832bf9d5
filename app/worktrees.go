package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) worktreesCommand() *cobra.Command {
	list := a.worktreesListCommand()
	cmd := &cobra.Command{
		Use:     "worktrees",
		GroupID: groupAct,
		Short:   "Look at what sessions wrote in worktrees, and bring it home",
		Long: `Look at what sessions wrote in worktrees, and bring it home.

A session that writes in a worktree leaves your checkout as it is. Its worktree
and its branch stay until you remove them. Without a command the worktrees are
listed.`,
		Example: `  deckhand worktrees
  deckhand worktrees diff 4k2m
  deckhand worktrees apply 4k2m --dry-run
  deckhand worktrees commit 4k2m -m "shop: round prices up"`,
		Args: list.Args,
		RunE: list.RunE,
	}
	a.withJSON(cmd)
	cmd.AddCommand(list, a.worktreesDiffCommand(), a.worktreesPatchCommand(), a.worktreesApplyCommand(),
		a.worktreesCommitCommand(), a.worktreesRemoveCommand())
	return cmd
}

// onWorktree makes a command about the worktree of one session.
func (a *app) onWorktree(cmd *cobra.Command, run func(ctx context.Context, h hands, id turn.SessionID) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = one, a.completeID
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.withHands(cmd, func(ctx context.Context, h hands) error {
			id, err := worktreeNamed(ctx, h, args[0])
			if err != nil {
				return err
			}
			return run(ctx, h, id)
		})
	}
	return cmd
}

// worktreeNamed finds the session that arg names, among those that write in
// worktrees if one of them fits.
func worktreeNamed(ctx context.Context, h hands, arg string) (turn.SessionID, error) {
	sessions, err := h.List(ctx)
	if err != nil {
		return "", err
	}
	var candidates []session.Summary
	for _, s := range sessions {
		if s.Profile == turn.WorktreeWrite {
			candidates = append(candidates, s)
		}
	}
	found, err := resolve(candidates, arg)
	if err != nil && exitCode(err) != exitUsage {
		found, err = resolve(sessions, arg)
	}
	return found.SessionID, err
}

func (a *app) worktreesListCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the worktrees, newest first",
		Example: `  deckhand worktrees list
  deckhand worktrees list --json | jq -r '.[].path'`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHands(cmd, a.listWorktrees)
		},
	})
}

func (a *app) listWorktrees(ctx context.Context, h hands) error {
	sessions, err := h.List(ctx)
	if err != nil {
		return err
	}
	trees, err := h.Worktrees(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(trees)
	}
	if len(trees) == 0 {
		a.printf("No session has a worktree.\n")
		return nil
	}
	now, p, short := a.now(), a.paint(), shorten(sessions)
	id, title, age := column{title: "ID"}, column{title: "SESSION"}, column{title: "MADE"}
	changes, source, path := column{title: "CHANGES"}, column{title: "OF"}, column{title: "WORKTREE"}
	for _, t := range trees {
		r := tray.Row{ID: string(t.SessionID), Label: t.Label, Folder: t.Source, Status: tray.Status(t.Status)}
		id.cells = append(id.cells, short(t.SessionID))
		title.cells = append(title.cells, tray.Glyph(r, now)+" "+tray.Shorten(tray.Title(r), tray.MaxTitle))
		age.cells = append(age.cells, tray.Ago(t.CreatedAt, now))
		changes.cells = append(changes.cells, changed(t))
		source.cells = append(source.cells, a.home(t.Source))
		path.cells = append(path.cells, a.home(t.Path))
	}
	changes.color = func(i int, cell string) string {
		if trees[i].Problem != "" {
			return p.red(cell)
		}
		return cell
	}
	a.table(id, title, age, changes, source, path)
	return nil
}

// changed says in a few words what a worktree changed.
func changed(t session.Worktree) string {
	switch {
	case t.Problem != "":
		return "▲ " + tray.Clean(t.Problem)
	case t.Files == 0:
		return "none"
	}
	return fmt.Sprintf("%s +%d -%d", counted(t.Files, "file", "files"), t.Added, t.Removed)
}

func (a *app) worktreesCommitCommand() *cobra.Command {
	var message string
	cmd := a.onWorktree(&cobra.Command{
		Use:   "commit ID -m MESSAGE",
		Short: "Commit what a worktree holds on its branch",
		Long: `Commit what a worktree holds on its branch, new files included and ignored ones
not, without hooks and unsigned. Your own branches stay as they are: merge or
cherry-pick the branch when you like it. It waits for the end of a run.`,
		Example: `  deckhand worktrees commit 4k2m -m "shop: round prices up"`,
	}, func(ctx context.Context, h hands, id turn.SessionID) error {
		if strings.TrimSpace(message) == "" {
			return withHint(usagef("the commit has no message"), "give one with -m")
		}
		made, err := h.CommitWorktree(ctx, id, message)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(made)
		}
		a.printf("%s  %s\n", tray.Clean(made.Commit), tray.Clean(made.Branch))
		return nil
	})
	cmd.Flags().StringVarP(&message, "message", "m", "", "the message of the commit")
	return a.withJSON(cmd)
}

// removedWorktree is the JSON of a removal.
type removedWorktree struct {
	SessionID turn.SessionID `json:"native_session_id"`
	Path      string         `json:"path"`
	Branch    string         `json:"branch"`
}

func (a *app) worktreesRemoveCommand() *cobra.Command {
	var force bool
	cmd := a.onWorktree(&cobra.Command{
		Use:   "remove ID",
		Short: "Remove a worktree; its branch stays",
		Long: `Remove a worktree; its branch stays. What would be lost is refused: changes that
are not committed, files that Git ignores, repositories inside. With --force
they are lost. The session cannot go on without its worktree. A removal that was
interrupted stands in the list, and the same command completes it.`,
		Example: `  deckhand worktrees remove 4k2m
  deckhand worktrees remove 4k2m --force`,
	}, func(ctx context.Context, h hands, id turn.SessionID) error {
		snapshot, err := h.Inspect(ctx, id)
		if err != nil {
			return err
		}
		if err := h.RemoveWorktree(ctx, id, force); err != nil {
			return err
		}
		removed := removedWorktree{SessionID: id, Path: snapshot.Workspace.Root, Branch: snapshot.Workspace.Branch}
		if a.json {
			return a.printJSON(removed)
		}
		a.printf("removed %s; its branch %s stays\n", a.home(removed.Path), tray.Clean(removed.Branch))
		return nil
	})
	cmd.Flags().BoolVar(&force, "force", false, "remove it with all that would be lost")
	return a.withJSON(cmd)
}
