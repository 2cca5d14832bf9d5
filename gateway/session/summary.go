package session

import (
	"time"

	"deckhand/gateway/turn"
)

// Summary is one session in a list, without contents.
type Summary struct {
	SessionID        turn.SessionID `json:"native_session_id"`
	Label            string         `json:"session_label"`
	Profile          turn.Profile   `json:"capability_profile"`
	WorkingDirectory string         `json:"working_directory"`
	// SourceDirectory is the checkout that a worktree was made of, and otherwise
	// WorkingDirectory.
	SourceDirectory string      `json:"source_directory"`
	Status          turn.Status `json:"status"`
	CreatedAt       time.Time   `json:"created_at"`
	UpdatedAt       time.Time   `json:"updated_at"`
	LeaseExpiresAt  time.Time   `json:"lease_expires_at"`
	// TurnOpenedAt is when the pending turn was published; zero if none is.
	TurnOpenedAt time.Time `json:"turn_opened_at,omitzero"`
	// Running names the tools of the actions under way, and Printed says what
	// those of them that are commands have printed so far.
	Running []string  `json:"running"`
	Printed Printed   `json:"printed,omitzero"`
	Runs    int       `json:"runs"`
	Code    turn.Code `json:"code,omitempty"`
	// Undoable says that there is a write that was not taken back, and that its
	// worktree, if it was in one, was not removed.
	Undoable bool `json:"undoable"`
}

// Printed is how much commands have printed.
type Printed struct {
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"lines"`
}
