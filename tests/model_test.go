package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// TestAPromptThatLooksLikeACommandReachesTheModelAsText starts with prompts that
// Claude Code would swallow if it could.
func TestAPromptThatLooksLikeACommandReachesTheModelAsText(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	chat := g.Chat()
	var s *fakechatgpt.Session
	for i, prompt := range []string{"/compact", "/model opus", "/etc/passwd is what?"} {
		if i == 0 {
			s = chat.Start(chatgpt.Start{Prompt: prompt})
		} else if _, err := s.Continue(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
		turn := s.Turn()
		if turn.Prompt == nil || *turn.Prompt != prompt {
			t.Errorf("the turn does not bring the prompt %q", prompt)
		}
		if end := s.Say(fmt.Sprint("answer ", i)); end.LastResult.Text != fmt.Sprint("answer ", i) {
			t.Errorf("the run ended with %q", end.LastResult.Text)
		}
		if !bytes.Contains(g.ClaudeTranscript().Text, []byte(prompt)) {
			t.Errorf("Claude Code was not given %q", prompt)
		}
	}
}

// TestTenLargeResultsAreFine reads ten files of 64 KiB in one reply: neither the
// window of Claude Code nor the size of a turn may get in the way.
func TestTenLargeResultsAreFine(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	dir := t.TempDir()
	var calls []chatgpt.ToolCall
	for i := range 10 {
		path := filepath.Join(dir, fmt.Sprintf("large-%d.txt", i))
		line := strings.Repeat(fmt.Sprint(i), 79) + "\n"
		must(t, os.WriteFile(path, []byte(strings.Repeat(line, 64<<10/len(line))), 0o600))
		calls = append(calls, fakechatgpt.Call("Read", map[string]any{"file_path": path}))
	}
	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir})
	total := 0
	for _, result := range s.Do(calls...).Results {
		if result.Outcome != "ok" || result.Bytes < 60<<10 {
			t.Errorf("%s: %s, %d bytes", result.Name, result.Outcome, result.Bytes)
		}
		if int64(len(result.Text)) < result.Bytes && !strings.Contains(result.Text, result.Receipt.ID) && !result.Truncated {
			t.Errorf("a result is cut to %d of %d bytes and does not say so", len(result.Text), result.Bytes)
		}
		total += len(result.Text)
	}
	if total > 256<<10 {
		t.Errorf("one turn brings %d bytes", total)
	}
	s.Do(calls...)
	s.Say("done")
	if said := g.ClaudeTranscript(); said.ErrorResults != 0 {
		t.Errorf("Claude Code took %d results for errors", said.ErrorResults)
	}
}

// TestARequestThatIsNoTurnFailsTheRun makes the real Claude Code compact its
// history, which it does by asking its model. ChatGPT must never see that.
func TestARequestThatIsNoTurnFailsTheRun(t *testing.T) {
	t.Parallel()
	g := rig.InProcess(t, rig.Tuned{ClaudeEnv: []string{
		"CLAUDE_CODE_MAX_CONTEXT_TOKENS=200000", "DISABLE_COMPACT=", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=10"}})
	path := filepath.Join(t.TempDir(), "words.txt")
	must(t, os.WriteFile(path, []byte(strings.Repeat("some more words ", 1000)+"\n"), 0o600))
	calls := make([]chatgpt.ToolCall, 16)
	for i := range calls {
		calls[i] = fakechatgpt.Call("Read", map[string]any{"file_path": path})
	}
	s := g.Chat().Start(chatgpt.Start{})
	s.Turn()
	for range 10 {
		_, err := s.Reply(t.Context(), chatgpt.Reply{Calls: calls})
		must(t, err)
		if _, err := s.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Last.Turn == nil {
			break
		}
	}
	if s.Last.Status != "failed" || s.Last.Terminal == nil || s.Last.Terminal.Code != "unexpected_model_request" {
		t.Fatalf("Claude Code compacted its history, and the session is %s", fakechatgpt.Describe(s.Last))
	}
	for _, answer := range g.Book.Answers() {
		if bytes.Contains(answer, []byte("Respond with TEXT ONLY")) {
			t.Error("ChatGPT was shown the request")
		}
	}
}
