package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
)

const (
	slowFiles = 24
	slowSize  = 250 << 20
)

// slowTree makes a directory that takes seconds to search: files with a few
// bytes at their end and a hole of 250 MiB before, which take no room.
func slowTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range slowFiles {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("hole-%02d.txt", i)))
		must(t, err)
		if _, err := file.WriteAt([]byte("the needle\n"), slowSize); err != nil {
			t.Fatal(err)
		}
		must(t, file.Close())
	}
	return dir
}

// beginSlow replies with a search of the slow tree and returns when it is under
// way.
func beginSlow(t *testing.T, s *fakechatgpt.Session) {
	t.Helper()
	args := map[string]any{
		"native_session_id": s.ID, "lease_id": s.Lease, "turn_id": s.Last.Turn.ID, "reply_id": chatgpt.Key(),
		"wait_seconds": 0,
		"tool_calls":   []any{fakechatgpt.Call("SearchText", map[string]any{"text": "the needle"})},
	}
	if _, err := s.Client().Call(t.Context(), chatgpt.ToolReply, args); err != nil {
		t.Fatal(err)
	}
	for {
		answer, err := s.Status(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Run != nil && len(answer.Run.Running) > 0 {
			return
		}
		if answer.Status == "waiting_for_gpt" || answer.Run == nil {
			t.Fatalf("the search was never seen under way: %s", fakechatgpt.Describe(answer))
		}
		time.Sleep(5 * time.Millisecond)
	}
}
