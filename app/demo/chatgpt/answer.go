package chatgpt

import (
	"encoding/json"
	"time"
)

// Answer is what every one of the six tools returns: the whole state of a
// session.
type Answer struct {
	// Text is the result's text channel, Raw its structured content.
	Text string          `json:"-"`
	Raw  json.RawMessage `json:"-"`

	Session          string       `json:"native_session_id"`
	ClaudeSession    string       `json:"claude_session_id"`
	Label            string       `json:"session_label"`
	Status           string       `json:"status"`
	Revision         uint64       `json:"revision"`
	Replay           bool         `json:"replay"`
	Profile          string       `json:"capability_profile"`
	WorkingDirectory string       `json:"working_directory"`
	Lease            string       `json:"lease_id"`
	LeaseExpiresAt   time.Time    `json:"lease_expires_at"`
	RecoveryToken    string       `json:"recovery_token"`
	RuntimeAttached  bool         `json:"runtime_attached"`
	RecoveryRequired bool         `json:"recovery_required"`
	LaunchError      *LaunchError `json:"launch_error"`
	Run              *Run         `json:"current_run"`
	Turn             *Turn        `json:"pending_turn"`
	LastResult       *LastResult  `json:"last_result"`
	Terminal         *Terminal    `json:"terminal"`
	History          []PastTurn   `json:"history"`
	Next             string       `json:"next"`
}

// HolderCanAct reports whether ChatGPT, or the user, is the one to act next.
func (a *Answer) HolderCanAct() bool {
	switch a.Status {
	case "starting", "running", "executing", "stopping":
		return false
	}
	return true
}

// LaunchError says why Claude Code could not be started.
type LaunchError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Run is the present run.
type Run struct {
	ID      string    `json:"run_id"`
	Number  int       `json:"number"`
	State   string    `json:"state"`
	Started time.Time `json:"started_at"`
	Turns   int       `json:"turns"`
	Actions int       `json:"actions"`
	Running []struct {
		Action string `json:"action_id"`
		Name   string `json:"name"`
	} `json:"running"`
}

// Turn is a question that waits for its reply.
type Turn struct {
	ID       string        `json:"turn_id"`
	Sequence int           `json:"sequence"`
	Opened   time.Time     `json:"opened_at"`
	Prompt   *string       `json:"prompt"`
	Results  []Result      `json:"results"`
	Tools    []SessionTool `json:"tools"`
	Notices  []string      `json:"notices"`
}

// SessionTool is a tool that a reply may call.
type SessionTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Result is the receipt of one action.
type Result struct {
	ToolCall  string `json:"tool_call_id"`
	Action    string `json:"action_id"`
	Name      string `json:"name"`
	Outcome   string `json:"outcome"`
	Text      string `json:"text"`
	Bytes     int64  `json:"bytes"`
	Truncated bool   `json:"truncated"`
	SHA256    string `json:"sha256"`
	Receipt   struct {
		ID       string    `json:"receipt_id"`
		Code     string    `json:"code"`
		Started  time.Time `json:"started_at"`
		Finished time.Time `json:"finished_at"`
		Attempts int       `json:"attempts"`
	} `json:"receipt"`
}

// LastResult is how the last ended run ended.
type LastResult struct {
	Run      string    `json:"run_id"`
	Outcome  string    `json:"outcome"`
	Text     string    `json:"text"`
	Finished time.Time `json:"finished_at"`
}

// Terminal says how a session came to a halt.
type Terminal struct {
	Outcome string `json:"outcome"`
	Code    string `json:"code"`
}

// PastTurn is one turn of the history that a recover returns.
type PastTurn struct {
	Run      string   `json:"run_id"`
	Sequence int      `json:"sequence"`
	Prompt   string   `json:"prompt"`
	Text     string   `json:"text"`
	Results  []Result `json:"results"`
}
