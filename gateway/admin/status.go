package admin

import (
	"time"

	"deckhand/gateway/turn"
)

// Status is what a gateway says of itself. It holds no secret.
type Status struct {
	Version   string    `json:"version"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	StateDir  string    `json:"state_dir"`
	// LocalAddress and ConnectorAddress are host:port of the two listeners; the
	// second is empty if that listener is off.
	LocalAddress     string `json:"local_address"`
	ConnectorAddress string `json:"connector_address"`
	// Connector says how ChatGPT is connected: "none" until it is.
	Connector string `json:"connector"`

	Claude  Claude  `json:"claude"`
	Sandbox Sandbox `json:"sandbox"`

	Switches turn.Switches `json:"switches"`

	// LastEvent is the number of the newest event as of which all this is true.
	LastEvent uint64 `json:"last_event"`

	Warnings []string `json:"warnings"`
	// LastRequestAt is when ChatGPT last called; zero if it did not since the
	// gateway started.
	LastRequestAt time.Time `json:"last_request_at,omitzero"`
}

// Claude is the Claude Code that new runs start.
type Claude struct {
	// Path is empty if none was found.
	Path string `json:"path"`
	// Version is empty if it is not known yet.
	Version string `json:"version"`
}

// Sandbox is the result of the self-test at start.
type Sandbox struct {
	OK bool `json:"ok"`
	// Kind names the mechanism, e.g. "bubblewrap".
	Kind string `json:"kind"`
	// Detail says what failed, and Remedy what cures it; both are empty if OK.
	Detail string `json:"detail"`
	Remedy string `json:"remedy"`
}
