//go:build desktop

package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// shots is where the pictures go, relative to this folder.
const shots = "../bin/desktop"

// TestTheMenuOnARealPanel does with the keyboard, on a real panel and with a real
// notification daemon, what the tests of the menu do over the bus.
func TestTheMenuOnARealPanel(t *testing.T) {
	screen := rig.NewScreen(t)
	g := rig.Start(t, rig.OnScreen(screen))
	dir := filepath.Join(g.Home, "src", "shop")
	must(t, os.MkdirAll(dir, 0o755))
	prices := filepath.Join(dir, "prices.txt")
	must(t, os.WriteFile(prices, []byte("tea 3\n"), 0o644))

	reads := g.Chat().Start(chatgpt.Start{Label: "release_notes"})
	reads.Turn()
	writes := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write", Label: "price list", WaitSeconds: 1})
	status := func(s *fakechatgpt.Session) string {
		answer, err := s.Status(t.Context(), 0)
		must(t, err)
		return answer.Status
	}
	if got := status(writes); got != "awaiting_approval" {
		t.Fatalf("it is %s", got)
	}
	time.Sleep(2 * time.Second) // the icon settles, the notifications show
	screen.Shoot(shots + "/notification.png")

	// The first entry that can be chosen is what needs a person; its first is
	// Approve.
	screen.OpenMenu()
	screen.Keys("Down", "Right")
	time.Sleep(time.Second)
	screen.Shoot(shots + "/menu.png")
	screen.Keys("Return")
	rig.Await(t, "the session to be approved", func() bool { return status(writes) == "waiting_for_gpt" })
	writes.Turn()
	if r := writes.One("Write", map[string]any{"file_path": "prices.txt", "content": "tea 4\n"}); r.Outcome != "ok" {
		t.Fatalf("write: %s %s", r.Receipt.Code, r.Text)
	}

	// Two sessions now; a session keeps the place that it has.
	order := func() string {
		sessions, err := g.Admin().List(t.Context())
		must(t, err)
		return string(sessions[0].SessionID)
	}
	if order() != writes.ID {
		t.Fatalf("the newest session is %s", order())
	}
	time.Sleep(2 * time.Second)
	screen.OpenMenu()
	screen.Shoot(shots + "/sessions.png")
	// release_notes sat first: Stop, Recover, Open folder, Copy id.
	screen.Keys("Down", "Right", "Down", "Return")
	rig.Await(t, "the prompt on the clipboard", func() bool { return strings.Contains(screen.Clipboard(), reads.ID) })
	other := g.Chat().Join(reads.ID, "", recoveryTokenIn(t, screen.Clipboard()))
	_, err := other.Recover(t.Context())
	must(t, err)

	time.Sleep(2 * time.Second)
	screen.OpenMenu()
	// price list: Stop, Recover, Undo last write.
	screen.Keys("Down", "Down", "Right", "Down", "Down", "Return")
	rig.Await(t, "the write to be undone", func() bool { return content(t, prices) == "tea 3\n" })
	time.Sleep(2 * time.Second)
	screen.Shoot(shots + "/undone.png")

	screen.OpenMenu()
	screen.Keys("Down", "Right", "Return")
	rig.Await(t, "the session to be stopped", func() bool { return status(other) == "stopped" })
	if got := status(writes); got != "waiting_for_gpt" {
		t.Errorf("the other session is %s", got)
	}
	writes.Halt()
}
