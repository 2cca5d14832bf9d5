package command

import "deckhand/gateway/sandbox"

// policy is what a command may see and do: the base system and its session's
// directory, read-only.
func (r *Runner) policy(root, cache string) sandbox.Policy {
	return sandbox.Policy{ReadOnly: []string{root}, Writable: []string{cache}, Network: sandbox.PrivateLoopback}
}
