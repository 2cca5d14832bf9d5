package tray

import "time"

// Model is everything a menu shows, at the instant Now.
type Model struct {
	Now     time.Time
	Gateway Gateway
	// Rows are the sessions, newest first.
	Rows []Row
	// FirstStart says that this user has not used Deckhand before.
	FirstStart bool
	// KeepAwake and StartAtLogin are switches of the app.
	KeepAwake, StartAtLogin bool
}

// Gateway is the state of the gateway itself.
type Gateway struct {
	// Running is false when no gateway answers; the other fields are then empty.
	Running bool
	Version string
	PID     int
	// Address is where local MCP clients connect.
	Address string
	// Connector is where ChatGPT's way in ends, or "" if there is none.
	Connector string
	// Tunnel says how the way in fares, "" if there is nothing to say.
	Tunnel string
	// TunnelDown is since when nothing can come in; zero if it can.
	TunnelDown time.Time
	// Paused says that no session can start.
	Paused bool
	// AskBeforeWrite says that every session that writes is asked about.
	AskBeforeWrite bool
	// LastRequest is when ChatGPT last called; zero if it never did.
	LastRequest time.Time
	// Warnings are sentences that a person should read.
	Warnings []string
}

// Status is what a session is doing, by the names that the gateway uses.
type Status string

const (
	AwaitingApproval Status = "awaiting_approval"
	Starting         Status = "starting"
	Running          Status = "running"
	WaitingForGPT    Status = "waiting_for_gpt"
	Executing        Status = "executing"
	Idle             Status = "idle"
	Failed           Status = "failed"
	Stopping         Status = "stopping"
	Stopped          Status = "stopped"
	LeaseExpired     Status = "lease_expired"
	RecoveryRequired Status = "recovery_required"
)

// Row is one session.
type Row struct {
	ID      string
	Label   string
	Folder  string
	Profile string
	Status  Status
	// Code says why the last run failed, "" if it did not.
	Code string
	// Tools are the names of the tools that run now.
	Tools []string
	// Lines is how much the commands among them have printed so far.
	Lines int64
	// Where is the folder that it was started for, as a person writes it.
	Where string
	// Source is the checkout that a worktree was made of, else "".
	Source string
	// Undoable says that there is a write to take back.
	Undoable bool
	// Generation is that of the approval that is asked for.
	Generation int
	// LeaseEnds is when the holder loses the session; zero if it cannot.
	LeaseEnds time.Time
	// TurnOpened is when the pending turn was published; zero if none is.
	TurnOpened time.Time
	// AnswerBy is when a session that waits for an approval is refused; zero if
	// it does not wait or that is not known.
	AnswerBy time.Time
	// Updated is when anything last changed.
	Updated time.Time
}
