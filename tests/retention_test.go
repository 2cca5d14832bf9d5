package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/rig"
)

// TestASessionGoesOnWithoutItsHomeAndIsPruned takes Claude Code's home away while no
// gateway runs, as the sweep does, goes on, and removes the session with no
// gateway running.
func TestASessionGoesOnWithoutItsHomeAndIsPruned(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir()})
	s.Turn()
	s.Say("done")
	rig.Await(t, "idle", func() bool { a, err := s.Status(t.Context(), 1); return err == nil && a.Status == "idle" })
	must(t, g.Stop())
	homes := filepath.Join(g.State, "private", "homes")
	list, err := os.ReadDir(homes)
	must(t, err)
	if len(list) != 1 {
		t.Fatal(list)
	}
	must(t, os.RemoveAll(filepath.Join(homes, list[0].Name())))
	g.Again()
	s = g.Chat().Join(s.ID, s.Lease, s.Token)
	if _, err := s.Continue(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	s.Turn()
	s.Say("done again")
	rig.Await(t, "idle", func() bool { a, err := s.Status(t.Context(), 1); return err == nil && a.Status == "idle" })
	must(t, g.Stop())
	_, err = g.Run(t.Context(), "prune", "--session", s.ID, "--yes")
	must(t, err)
	if _, err := g.Run(t.Context(), "show", s.ID); err == nil || !strings.Contains(err.Error(), "unknown_session") {
		t.Errorf("it is there: %v", err)
	}
	if list, err := os.ReadDir(homes); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
