package control

import (
	"fmt"
	"strings"

	"deckhand/gateway/turn"
)

// Instructions is what the server tells a client of itself: what it is and how
// the loop works.
func Instructions() string { return read("instructions") }

// StarterPrompt is what a user pastes into a new ChatGPT conversation, with
// the directory and the task added at its end.
func StarterPrompt() string {
	return fmt.Sprintf(read("starter"), read("loop")+"\n") + "\n"
}

// RecoveryPrompt is what a user pastes into a ChatGPT conversation that is to
// take over a session. It holds the recovery token: it is as secret as the
// session. The label may be empty.
func RecoveryPrompt(id turn.SessionID, token, label string) string {
	if label = strings.Join(strings.Fields(label), " "); label != "" {
		label = fmt.Sprintf(" (%q)", label)
	}
	return fmt.Sprintf(read("recovery"), label, id, token, read("loop")+"\n") + "\n"
}

func read(name string) string {
	return strings.TrimSpace(string(mustRead("text/" + name + ".md")))
}
