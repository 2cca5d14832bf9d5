package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// clipboard makes a program that the app takes for the desktop's clipboard, and
// returns an option and a function that reads what was copied.
func clipboard(t *testing.T) (rig.Option, func() string) {
	t.Helper()
	dir := t.TempDir()
	copied := filepath.Join(dir, "copied")
	script := "#!/bin/sh\ncat >" + copied + ".part && mv " + copied + ".part " + copied + "\n"
	must(t, os.WriteFile(filepath.Join(dir, "wl-copy"), []byte(script), 0o755))
	return rig.With("PATH="+dir+":"+os.Getenv("PATH"), "WAYLAND_DISPLAY=wayland-test"), func() string {
		data, err := os.ReadFile(copied)
		if err != nil {
			return ""
		}
		return string(data)
	}
}

// TestTheMenuShowsAndStopsSessions drives the menu of the real app over a real
// bus, with a real session.
func TestTheMenuShowsAndStopsSessions(t *testing.T) {
	t.Parallel()
	desk := rig.NewDesktop(t)
	clip, copied := clipboard(t)
	g := rig.Start(t, rig.WithMenu(desk), clip)
	desk.AwaitText("ChatGPT thinks, Claude Code works, you hold the brake", true)
	desk.AwaitNotice("Deckhand is in your menu bar")

	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir(), Label: "a_b \u202e👩‍💻\nc"})
	s.Turn()
	row := "◐ a_b 👩‍💻 c"
	desk.AwaitText(row+" · reads only · waiting for ChatGPT", true)
	desk.AwaitText("you hold the brake", false)

	// A prompt for a new chat works: that chat takes the session over.
	desk.Click(row, "Recover: copy the prompt")
	rig.Await(t, "the prompt on the clipboard", func() bool { return strings.Contains(copied(), s.ID) })
	desk.AwaitNotice("The prompt for a new chat is on the clipboard")
	token := recoveryTokenIn(t, copied())
	other := g.Chat().Join(s.ID, "", token)
	answer, err := other.Recover(t.Context())
	must(t, err)
	if answer.Turn == nil || answer.Lease == s.Last.Lease {
		t.Errorf("the prompt did not hand the session over: %s", fakechatgpt.Describe(answer))
	}

	desk.Click(row, "Stop")
	desk.AwaitText("◐ a_b", false)
	rig.Await(t, "the session to be stopped", func() bool {
		answer, err := other.Status(t.Context(), 0)
		return err == nil && answer.Status == "stopped"
	})

	desk.Click("Copy starter prompt")
	rig.Await(t, "the starter prompt on the clipboard", func() bool { return strings.Contains(copied(), "native_session_start") })
}

// TestAPersonAnswersAndTakesBackInTheMenu approves, denies and undoes.
func TestAPersonAnswersAndTakesBackInTheMenu(t *testing.T) {
	t.Parallel()
	desk := rig.NewDesktop(t)
	g := rig.Start(t, rig.WithMenu(desk))
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.txt")
	must(t, os.WriteFile(kept, []byte("before\n"), 0o644))

	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write", Label: "writer", WaitSeconds: 1})
	notice := desk.AwaitNotice("writer wants to write in " + filepath.Base(dir))
	if len(notice.Actions) != 0 {
		t.Errorf("the notification can be answered by itself: %q", notice.Actions)
	}
	desk.AwaitText("NEEDS YOU", true)
	for _, line := range []string{"Gateway ", "NEEDS YOU"} {
		if root, err := desk.Menu(); err != nil {
			t.Error(err)
		} else if item, ok := root.Find(line); !ok || item.Enabled {
			t.Errorf("%q is only to be read, and is shown %t, enabled %t", line, ok, item.Enabled)
		}
	}
	desk.Click("◆ writer", "Approve")
	rig.Await(t, "the session to be approved", func() bool {
		answer, err := s.Status(t.Context(), 0)
		return err == nil && answer.Status != "awaiting_approval"
	})
	s.Turn()
	if r := s.One("Write", map[string]any{"file_path": "kept.txt", "content": "after\n"}); r.Outcome != "ok" {
		t.Fatalf("write: %s %s", r.Receipt.Code, r.Text)
	}
	if r := s.One("Write", map[string]any{"file_path": "made.txt", "content": "x\n"}); r.Outcome != "ok" {
		t.Fatalf("write: %s %s", r.Receipt.Code, r.Text)
	}
	desk.Click("writer", "Undo last write")
	rig.Await(t, "the last write to be undone", func() bool {
		_, err := os.Stat(filepath.Join(dir, "made.txt"))
		return os.IsNotExist(err)
	})
	if got := content(t, kept); got != "after\n" {
		t.Errorf("the write before the last is %q", got)
	}
	desk.Click("writer", "Undo all that it wrote")
	rig.Await(t, "all writes to be undone", func() bool { return content(t, kept) == "before\n" })
	desk.AwaitNotice("1 write was undone.")
	desk.AwaitText("Undo all that it wrote", false)
	s.Halt()

	// A folder that was allowed once is told of and not asked for.
	desk.Click("Ask before every session that writes")
	rig.Await(t, "the switch to be on", func() bool { return desk.Await("Ask before every session that writes").Checked })
	again := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write", Label: "again", WaitSeconds: 1})
	desk.Click("◆ again", "Deny")
	rig.Await(t, "the session to be denied", func() bool {
		answer, err := again.Status(t.Context(), 0)
		return err == nil && answer.Status == "stopped"
	})

	desk.Click("Pause: refuse new sessions")
	rig.Await(t, "the gateway to be paused", func() bool { return desk.Await("Pause: refuse new sessions").Checked })
	_, err := g.Chat().Client.Start(t.Context(), chatgpt.Start{Prompt: "read", WorkingDirectory: dir, IdempotencyKey: chatgpt.Key()})
	if err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("a start while paused: %v", err)
	}
}

// TestTheMenuOutlivesItsDesktop takes panel, notifications and bus away.
func TestTheMenuOutlivesItsDesktop(t *testing.T) {
	t.Parallel()
	desk := rig.NewDesktop(t)
	g := rig.Start(t, rig.WithMenu(desk))
	desk.AwaitText("No sessions", true)
	for i := range 3 {
		desk.HidePanel()
		desk.HideNotices()
		before := desk.Icons()
		desk.ShowPanel()
		rig.Await(t, "the icon to come back", func() bool { return desk.Icons() > before })
		desk.ShowNotices()
		s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir(), Label: "after restart", WaitSeconds: 1})
		desk.AwaitText("after restart", true)
		s.Turn()
		s.Halt()
		if i == 0 {
			// A second start is told of here and ends.
			out, err := g.Run(t.Context(), append([]string{}, "--allow-root")...)
			if err != nil || !strings.Contains(out, "already running") {
				t.Errorf("a second start: %q, %v", out, err)
			}
			desk.AwaitNotice("Deckhand is already running")
		}
	}
	desk.EndBus()
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir()})
	s.Turn()
	s.Halt()
	if !g.Running() {
		t.Fatalf("the gateway ended with the bus: %s", g.Words())
	}
}

// TestQuitLeavesRunsAlive ends the app from its menu.
func TestQuitLeavesRunsAlive(t *testing.T) {
	t.Parallel()
	desk := rig.NewDesktop(t)
	g := rig.Start(t, rig.WithMenu(desk))
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir(), Label: "lives on"})
	opened := s.Turn()
	shim := g.Shim()
	desk.Click("Quit, sessions go on")
	rig.Await(t, "the app to end", func() bool { return !g.Running() })
	if again := g.Shim(); again.PID != shim.PID || again.Started != shim.Started {
		t.Errorf("the shim was %+v and is %+v", shim, again)
	}
	g.Again()
	answer, err := s.Status(t.Context(), 0)
	must(t, err)
	if answer.Turn == nil || answer.Turn.ID != opened.ID {
		t.Errorf("after the next start: %s", fakechatgpt.Describe(answer))
	}
	desk.Click("Stop all sessions and quit")
	rig.Await(t, "the app to end", func() bool { return !g.Running() })
	g.AwaitNothing()
	// The command line ends it as well.
	g.Again()
	out, err := g.Run(t.Context(), "quit")
	if err != nil || !strings.Contains(out, "Deckhand has ended") {
		t.Errorf("quit: %q, %v", out, err)
	}
	rig.Await(t, "the app to end", func() bool { return !g.Running() })
	g.Again()
}

// TestWithoutADesktopTheGatewayRunsAlone starts the app where there is no bus.
func TestWithoutADesktopTheGatewayRunsAlone(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.WithMenu(&rig.Desktop{Address: "unix:path=" + filepath.Join(t.TempDir(), "none")}))
	if !strings.Contains(g.Words(), "no menu is shown") {
		t.Errorf("it says: %s", g.Words())
	}
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: t.TempDir()})
	s.Turn()
	s.Halt()
}

// recoveryTokenIn returns the token that a prompt for a new chat holds.
func recoveryTokenIn(t *testing.T, prompt string) string {
	t.Helper()
	found := regexp.MustCompile(`recovery_token: (\S+)`).FindStringSubmatch(prompt)
	if found == nil {
		t.Fatalf("the prompt names no recovery_token:\n%s", prompt)
	}
	return found[1]
}
