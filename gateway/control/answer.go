package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// answer puts the snapshot into a result. The structured content is the whole
// state. The text repeats it as JSON for clients that pass on nothing else;
// ChatGPT shows its model both, so there it is a summary.
func answer(s session.Snapshot, brief bool) (*mcp.CallToolResult, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	whole := bytes.TrimSpace(body.Bytes())
	say := string(whole)
	if brief {
		say = summary(s)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(say)},
		StructuredContent: json.RawMessage(whole),
	}, nil
}

// summary says in a few lines what the structured content holds.
func summary(s session.Snapshot) string {
	lines := []string{fmt.Sprintf("Session %s is %s (revision %d).", s.SessionID, s.Status, s.Revision)}
	if s.Replay {
		lines = append(lines, "This repeats an earlier call, which had its effect then.")
	}
	if t := s.PendingTurn; t != nil {
		line := fmt.Sprintf("Turn %s is pending with %s.", t.TurnID, count(len(t.Results), "result"))
		if failed := countFailed(t.Results); failed > 0 {
			line += fmt.Sprintf(" Not ok: %d.", failed)
		}
		lines = append(lines, line)
	}
	if r := s.CurrentRun; r != nil && len(r.Running) > 0 {
		names := make([]string, len(r.Running))
		for i, a := range r.Running {
			names[i] = fmt.Sprintf("%s for %d s", a.Name, a.Seconds)
		}
		lines = append(lines, "Under way: "+strings.Join(names, ", ")+".")
	}
	if s.PendingTurn == nil && s.CurrentRun == nil && s.LastResult != nil {
		lines = append(lines, fmt.Sprintf("Its last run ended: %s.", s.LastResult.Outcome))
	}
	return strings.Join(append(lines, s.Next), "\n")
}

func countFailed(results []session.Result) int {
	n := 0
	for _, r := range results {
		if r.Outcome != turn.OK {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
