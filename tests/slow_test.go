package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

const (
	slowFiles = 16
	slowSize  = 8 << 20
	slowText  = "word x"
)

// slowTree makes a directory that takes a second or more to search for
// slowText, which nearly occurs at every word and nowhere in full.
func slowTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	line := strings.Repeat("word ", 15) + "\n"
	body := []byte(strings.Repeat(line, slowSize/len(line)))
	for i := range slowFiles {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("words-%02d.txt", i)), body, 0o600))
	}
	return dir
}

// beginSlow replies with n searches of the slow tree and returns when one is
// under way.
func beginSlow(t *testing.T, s *fakechatgpt.Session, n int) {
	t.Helper()
	var calls []any
	for range n {
		calls = append(calls, fakechatgpt.Call("SearchText", map[string]any{"text": slowText}))
	}
	args := map[string]any{
		"native_session_id": s.ID, "lease_id": s.Lease, "turn_id": s.Last.Turn.ID, "reply_id": chatgpt.Key(),
		"wait_seconds": 0,
		"tool_calls":   calls,
	}
	if _, err := s.Client().Call(t.Context(), chatgpt.ToolReply, args); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the search to be under way", func() bool {
		answer, err := s.Status(t.Context(), 0)
		must(t, err)
		if answer.Status == "waiting_for_gpt" || answer.Run == nil {
			t.Fatalf("the search was over before it was seen: %s", fakechatgpt.Describe(answer))
		}
		return len(answer.Run.Running) > 0
	})
}
