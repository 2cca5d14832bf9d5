package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/runner"
)

// claudePackage is Claude Code in npm. Its native binary is an optional
// dependency; its install script is not needed.
const claudePackage = "@anthropic-ai/claude-code@" + runner.Pinned

func (a *app) claudeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "claude",
		GroupID: groupRun,
		Short:   "Install the Claude Code that Deckhand runs",
		Example: "  deckhand claude install",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "install",
		Short: "Install Claude Code " + runner.Pinned + " for Deckhand alone",
		Long: `Install the version of Claude Code that Deckhand was verified with, from npm,
into Deckhand's own state directory. Another Claude Code on this machine stays
as it is. Installing again repairs what is there.`,
		Example: "  deckhand claude install",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.load(cmd)
			if err != nil {
				return err
			}
			return a.installClaude(cmd.Context(), s)
		},
	})
	return cmd
}

func (a *app) installClaude(ctx context.Context, s Settings) error {
	npm, err := a.lookPath("npm")
	if err != nil {
		return withHint(fmt.Errorf("npm is not installed"), "install Node.js with npm, or name a Claude Code of your own with DECKHAND_CLAUDE")
	}
	dir := filepath.Dir(runner.InstalledClaude(s.StateDir))
	prefix := filepath.Dir(filepath.Dir(dir))
	if err := os.MkdirAll(prefix, 0o700); err != nil {
		return fmt.Errorf("make folder for Claude Code: %w", err)
	}
	a.printf("Installing Claude Code %s, about 250 MB …\n", runner.Pinned)
	cmd := exec.CommandContext(ctx, npm, "install", "--prefix", prefix, "--ignore-scripts", "--no-package-lock",
		"--no-audit", "--no-fund", "--loglevel=error", claudePackage)
	cmd.Env = a.environ()
	cmd.Dir = prefix
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, strings.TrimSpace(out.String()))
	}
	found, err := runner.FindClaude(runner.FindConfig{Path: runner.InstalledClaude(s.StateDir)})
	if err != nil {
		return err
	}
	a.printf("Claude Code %s is ready.\n", found.Version)
	return nil
}

// lookPath finds a program in the user's PATH, which may be another than this
// process's own.
func (a *app) lookPath(name string) (string, error) {
	for _, dir := range a.search() {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
