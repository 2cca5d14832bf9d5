package turn

import "time"

// Event is one line of the append-only list of what happened: who did what to
// what, when, with digests and sizes. It never holds contents, secrets, pids
// or internal paths.
type Event struct {
	// Seq numbers events from 1, over all sessions. Only the events of a session
	// that was pruned are missing.
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Session SessionID `json:"session,omitempty"`
	Run     RunID     `json:"run,omitempty"`
	Turn    TurnID    `json:"turn,omitempty"`
	Action  ActionID  `json:"action,omitempty"`
	// Kind names what happened, e.g. "session.started" or "action.finished".
	Kind string `json:"kind"`
	// By is "chatgpt", "user", "claude" or "gateway".
	By string `json:"by"`
	// From and To are the session's status before and after, if it changed.
	From Status `json:"from,omitempty"`
	To   Status `json:"to,omitempty"`
	// Name is the tool of an action, or the profile that is trusted.
	Name string `json:"name,omitempty"`
	// Subject is what a person did something to or made: a folder that the user
	// named, or a commit.
	Subject string `json:"subject,omitempty"`
	// Files counts the files that were changed at once.
	Files   int     `json:"files,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	Code    Code    `json:"code,omitempty"`
	Bytes   int64   `json:"bytes,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
}
