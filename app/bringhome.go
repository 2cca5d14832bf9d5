package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

func (a *app) worktreesDiffCommand() *cobra.Command {
	return a.withJSON(a.onWorktree(&cobra.Command{
		Use:   "diff ID",
		Short: "Show what a worktree changed since it began",
		Long: `Show what a worktree changed since it began, committed or not. It is for
reading; deckhand worktrees patch prints what git apply takes.`,
		Example: `  deckhand worktrees diff 4k2m | less -R
  deckhand worktrees diff 4k2m --color always | less -R`,
	}, func(ctx context.Context, h hands, id turn.SessionID) error {
		diff, err := h.WorktreeDiff(ctx, id, admin.MaxDiff)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(diff)
		}
		a.printDiff(diff)
		return nil
	}))
}

func (a *app) printDiff(diff session.WorktreeDiff) {
	if len(diff.Files) == 0 && len(diff.Skipped) == 0 {
		a.printf("Nothing has changed.\n")
		return
	}
	p := a.paint()
	a.printFiles(diff.Files)
	a.printSkipped(diff.Skipped)
	if diff.Diff != "" {
		a.printf("\n")
	}
	for line := range strings.Lines(printable(diff.Diff)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			line = p.cyan(line)
		case strings.HasPrefix(line, "+"):
			line = p.green(line)
		case strings.HasPrefix(line, "-"):
			line = p.red(line)
		case strings.HasPrefix(line, "diff "):
			line = p.bold(line)
		}
		a.printf("%s\n", line)
	}
	if diff.Truncated {
		a.printf("%s\n", p.yellow("… there is more; deckhand worktrees patch has all of it"))
	}
}

// printFiles lists changed files.
func (a *app) printFiles(files []session.WorktreeFile) {
	for _, f := range files {
		var notes []string
		switch name := tray.Clean(f.From); {
		case f.Kind != "modified" && name != "":
			notes = append(notes, string(f.Kind)+" from "+name)
		case f.Kind != "modified":
			notes = append(notes, string(f.Kind))
		}
		if f.Binary {
			notes = append(notes, "binary")
		}
		if f.Mode {
			notes = append(notes, "executable bit")
		}
		a.printChange(f.Added, f.Removed, f.Path, notes)
	}
}

// printChange prints one line about one file.
func (a *app) printChange(added, removed int, path string, notes []string) {
	p, note := a.paint(), ""
	if len(notes) > 0 {
		note = "  " + p.dim("("+tray.Clean(strings.Join(notes, "; "))+")")
	}
	a.printf("  %s %s %s%s\n", p.green(fmt.Sprintf("+%d", added)), p.red(fmt.Sprintf("-%d", removed)), tray.Clean(path), note)
}

func (a *app) printSkipped(skipped []session.WorktreeNote) {
	for _, s := range skipped {
		a.printf("  %s\n", a.paint().yellow(fmt.Sprintf("▲ %s stays behind: %s", tray.Clean(s.Path), tray.Clean(s.Reason))))
	}
}

func (a *app) worktreesPatchCommand() *cobra.Command {
	return a.onWorktree(&cobra.Command{
		Use:   "patch ID",
		Short: "Print a patch for git apply of what a worktree changed",
		Long: `Print a patch for git apply of what a worktree changed since it began, binary
files included. All of it is printed or nothing.`,
		Example: `  deckhand worktrees patch 4k2m > 4k2m.patch
  deckhand worktrees patch 4k2m | git apply --3way`,
	}, func(ctx context.Context, h hands, id turn.SessionID) error {
		if isTerminal(a.stdio.Out) {
			return withHint(usagef("a patch is for git apply, not for a terminal"),
				"write it to a file with >, or look at it with: deckhand worktrees diff %s", id)
		}
		return a.patch(ctx, h, id)
	})
}

// patch keeps the patch in a file without a name until it is whole: who reads
// slowly does not keep the worktree from others, and half a patch is none.
func (a *app) patch(ctx context.Context, h hands, id turn.SessionID) error {
	whole, err := os.CreateTemp("", "deckhand-patch-")
	if err != nil {
		return fmt.Errorf("keep patch: %w", err)
	}
	defer whole.Close()
	if err := os.Remove(whole.Name()); err != nil {
		return fmt.Errorf("keep patch: %w", err)
	}
	if err := h.WorktreePatch(ctx, id, whole); err != nil {
		return err
	}
	if _, err := whole.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read patch again: %w", err)
	}
	if _, err := io.Copy(a.stdio.Out, whole); err != nil {
		return fmt.Errorf("print patch: %w", err)
	}
	return nil
}

func (a *app) worktreesApplyCommand() *cobra.Command {
	var dryRun bool
	cmd := a.onWorktree(&cobra.Command{
		Use:   "apply ID",
		Short: "Bring what a worktree changed into your checkout",
		Long: `Bring what a worktree changed into the checkout that it was made of, as changes
to its files: nothing is committed or staged. The checkout has to be clean, and
may have moved on; both sides are merged. If anything conflicts nothing is
written, the conflicts are listed and the exit code is 1. It waits for the end
of a run.`,
		Example: `  deckhand worktrees apply 4k2m --dry-run
  deckhand worktrees apply 4k2m`,
	}, func(ctx context.Context, h hands, id turn.SessionID) error {
		report, err := h.ApplyWorktree(ctx, id, dryRun)
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(report)
		} else {
			a.printApply(report)
		}
		if err == nil && len(report.Conflicts) > 0 {
			err = errConflicts
		}
		return err
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be changed")
	return a.withJSON(cmd)
}

func (a *app) printApply(r session.WorktreeApply) {
	p := a.paint()
	a.printFiles(r.Applied)
	a.printSkipped(r.Skipped)
	for _, c := range r.Conflicts {
		a.printf("  %s\n", p.red(fmt.Sprintf("✗ %s: %s", tray.Clean(c.Path), tray.Clean(c.Reason))))
	}
	source := a.home(r.Source)
	switch n := len(r.Conflicts); {
	case n > 0:
		a.printf("%s, so nothing %s in %s\n", counted(n, "conflict", "conflicts"), when(r.DryRun, "would be changed", "was changed"), source)
	case len(r.Applied) == 0 && len(r.Already) == 0:
		a.printf("Nothing has changed.\n")
	case len(r.Applied) == 0:
		a.printf("%s holds all of it already\n", source)
	default:
		a.printf("%s %s in %s\n", counted(len(r.Applied), "file", "files"), when(r.DryRun, "would be changed", "changed"), source)
	}
}

func when(so bool, then, otherwise string) string {
	if so {
		return then
	}
	return otherwise
}
