package bridge

import (
	"fmt"
	"slices"
	"strings"

	"deckhand/gateway/anthropic"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// Tail is what the end of a model request is.
type Tail struct {
	Kind link.TailKind
	// ToolUseIDs are set for TailResults, in the order of the results.
	ToolUseIDs []turn.ToolUseID
	// Summary is set for TailOther. It holds no contents.
	Summary string
}

// Expect is what a turn of this run looks like.
type Expect struct {
	Model string
	// Prompt is what Claude Code got on its standard input.
	Prompt string
	// Tools are the names by which Claude Code offers the run's tools.
	Tools []string
}

// Classify says what the end of a request is. It reads text only to compare
// it whole with the run's own prompt, or to see that it is a reminder.
func Classify(r *anthropic.Request, want Expect) Tail {
	other := func(why string) Tail {
		return Tail{Kind: link.TailOther, Summary: summarize(r, why)}
	}
	if r.Model != want.Model {
		return other("another model")
	}
	for _, name := range want.Tools {
		if !slices.Contains(r.Tools, name) {
			return other("without the run's tools")
		}
	}
	last := lastSpoken(r.Messages)
	if last == nil || last.Role != anthropic.User {
		return other("last message is not the user's")
	}
	content := slices.DeleteFunc(slices.Clone(last.Content), isReminder)
	if len(content) == 0 {
		return other("last message is empty")
	}
	if text, ok := content[0].(anthropic.Text); ok {
		if len(content) == 1 && text.Text == want.Prompt {
			return Tail{Kind: link.TailPrompt}
		}
		return other("text that is not the prompt")
	}
	var ids []turn.ToolUseID
	for _, block := range content {
		result, ok := block.(anthropic.ToolResult)
		if !ok || result.ToolUseID == "" {
			return other("more than tool results")
		}
		ids = append(ids, turn.ToolUseID(result.ToolUseID))
	}
	return Tail{Kind: link.TailResults, ToolUseIDs: ids}
}

// lastSpoken skips messages of role system at the end that say nothing: they
// are empty or hold only reminders.
func lastSpoken(messages []anthropic.Message) *anthropic.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		silent := m.Role == "system" && !slices.ContainsFunc(m.Content, func(b anthropic.ContentBlock) bool {
			text, ok := b.(anthropic.Text)
			return !ok || !isReminder(text)
		})
		if !silent {
			return m
		}
	}
	return nil
}

// isReminder reports whether a block says nothing: it is blank, or context
// that Claude Code adds by itself. A prompt never is, because of its fixed
// first line.
func isReminder(b anthropic.ContentBlock) bool {
	text, ok := b.(anthropic.Text)
	if !ok {
		return false
	}
	rest := strings.TrimSpace(text.Text)
	for rest != "" {
		body, ok := strings.CutPrefix(rest, "<system-reminder>")
		if !ok {
			return false
		}
		if _, rest, ok = strings.Cut(body, "</system-reminder>"); !ok {
			return false
		}
		rest = strings.TrimSpace(rest)
	}
	return true
}

// summarize describes a request by counts and kinds.
func summarize(r *anthropic.Request, why string) string {
	last := r.Messages[len(r.Messages)-1]
	var kinds []string
	for _, b := range last.Content {
		kinds = append(kinds, clip(b.Kind()))
	}
	if len(kinds) > 8 {
		kinds = append(kinds[:8], "…")
	}
	return fmt.Sprintf("%s (%d messages, last from %s with %d blocks [%s], %d tools)",
		why, len(r.Messages), clip(string(last.Role)), len(last.Content), strings.Join(kinds, " "), len(r.Tools))
}

// clip keeps a name from a request short and plain.
func clip(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '?'
	}, name)
	return plain[:min(len(plain), 24)]
}
