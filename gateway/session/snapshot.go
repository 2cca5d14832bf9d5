package session

import (
	"encoding/json"
	"time"

	"deckhand/gateway/turn"
)

// Snapshot is the whole state of a session as one answer of the control plane
// and of the admin socket. Its JSON is the wire shape that the output schema in
// package control describes: fields are added, never renamed or removed.
// Pointers that stand without omitempty are null when there is nothing to say.
type Snapshot struct {
	SessionID       turn.SessionID `json:"native_session_id"`
	ClaudeSessionID *string        `json:"claude_session_id"`
	Label           *string        `json:"session_label"`
	Status          turn.Status    `json:"status"`
	Revision        uint64         `json:"revision"`
	Replay          bool           `json:"replay"`

	Route           string `json:"route"`
	Fallback        string `json:"fallback"`
	NetworkBoundary string `json:"network_boundary"`

	Profile          turn.Profile        `json:"capability_profile"`
	SubagentPolicy   turn.SubagentPolicy `json:"subagent_policy"`
	WorkingDirectory string              `json:"working_directory"`
	SourceDirectory  string              `json:"source_directory"`
	Workspace        Workspace           `json:"workspace"`

	// LeaseID is null in the answer to a repeat whose lease was rotated since.
	LeaseID        *turn.LeaseID `json:"lease_id"`
	LeaseExpiresAt *time.Time    `json:"lease_expires_at"`
	// RecoveryToken stands only in the answers of start and recover.
	RecoveryToken string `json:"recovery_token,omitempty"`

	RuntimeAttached  bool         `json:"runtime_attached"`
	RecoveryRequired bool         `json:"recovery_required"`
	LaunchError      *LaunchError `json:"launch_error,omitempty"`

	CurrentRun  *Run         `json:"current_run"`
	PendingTurn *PendingTurn `json:"pending_turn"`
	LastResult  *LastResult  `json:"last_result,omitempty"`
	StopRequest *StopMark    `json:"stop_request,omitempty"`
	Terminal    *Terminal    `json:"terminal,omitempty"`

	Skills           []SkillMark     `json:"skill_snapshot"`
	DeepSeekRoute    *DeepSeekRoute  `json:"deepseek_route"`
	DeepSeekSessions []DeepSeekState `json:"deepseek_subsessions"`
	ActiveDeepSeekID *string         `json:"active_deepseek_subsession_id"`
	Approval         *Approval       `json:"approval,omitempty"`
	History          []HistoryTurn   `json:"history,omitempty"`
	HistoryTruncated bool            `json:"history_truncated,omitempty"`
	Next             string          `json:"next"`
}

// Workspace says where the session may write. Root is the real directory of
// direct_write or the worktree; it is empty for read_only.
type Workspace struct {
	// Kind is "none", "direct" or "worktree".
	Kind       string `json:"kind"`
	Root       string `json:"root"`
	Branch     string `json:"branch,omitempty"`
	BaseCommit string `json:"base_commit,omitempty"`
	Retained   bool   `json:"retained"`
}

// LaunchError says why the last run could not be started.
type LaunchError struct {
	Code    turn.Code `json:"code"`
	Message string    `json:"message"`
}

// Run is the present run. Running lists the actions under way.
type Run struct {
	RunID     turn.RunID `json:"run_id"`
	Number    int        `json:"number"`
	State     string     `json:"state"`
	StartedAt time.Time  `json:"started_at"`
	Turns     int        `json:"turns"`
	Actions   int        `json:"actions"`
	Running   []Running  `json:"running"`
}

// Running is an action under way: for how many whole seconds, and how many
// bytes it has produced so far.
type Running struct {
	ActionID turn.ActionID `json:"action_id"`
	Name     string        `json:"name"`
	Seconds  int64         `json:"seconds"`
	Bytes    int64         `json:"bytes"`
}

// PendingTurn is what a reply answers. Prompt, Tools and Skills come on the
// first turn of a run and on the first answer after a recover.
type PendingTurn struct {
	TurnID   turn.TurnID `json:"turn_id"`
	Sequence int         `json:"sequence"`
	OpenedAt time.Time   `json:"opened_at"`
	Prompt   *string     `json:"prompt,omitempty"`
	Results  []Result    `json:"results"`
	Tools    []Tool      `json:"tools,omitempty"`
	Skills   []SkillBody `json:"skills,omitempty"`
	Notices  []string    `json:"notices,omitempty"`
}

// Result is one receipt as the holder sees it. Bytes and SHA256 are those of
// the whole text of the receipt; Text may hold less, and then says so.
type Result struct {
	ToolCallID turn.ToolUseID `json:"tool_call_id"`
	ActionID   turn.ActionID  `json:"action_id"`
	Name       string         `json:"name"`
	Outcome    turn.Outcome   `json:"outcome"`
	Text       string         `json:"text"`
	Bytes      int64          `json:"bytes"`
	Truncated  bool           `json:"truncated"`
	SHA256     string         `json:"sha256"`
	Receipt    ReceiptMark    `json:"receipt"`
}

// ReceiptMark identifies a receipt; Code is null if the outcome is ok.
type ReceiptMark struct {
	ReceiptID  turn.ReceiptID `json:"receipt_id"`
	Code       *turn.Code     `json:"code"`
	StartedAt  *time.Time     `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at"`
	Attempts   int            `json:"attempts"`
	// Write is set if a file was changed.
	Write *turn.WriteMark `json:"write,omitempty"`
}

// Tool is a tool of the session's profile that can be called now.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// SkillBody is the frozen instruction body of a skill.
type SkillBody struct {
	SkillID string `json:"skill_id"`
	Body    string `json:"body"`
}

// SkillMark says which skills are frozen into the session.
type SkillMark struct {
	SkillID       string `json:"skill_id"`
	ContentSHA256 string `json:"content_sha256"`
	Bytes         int    `json:"bytes"`
}

// LastResult is how the last ended run ended. Outcome is "completed",
// "failed", "stopped", "expired" or "lost".
type LastResult struct {
	RunID      turn.RunID `json:"run_id"`
	Outcome    string     `json:"outcome"`
	Text       string     `json:"text"`
	FinishedAt time.Time  `json:"finished_at"`
	Changes    *Changes   `json:"changes,omitempty"`
}

// Changes is a bounded summary of what a run changed.
type Changes struct {
	Files     []FileChange `json:"files"`
	Diff      string       `json:"diff"`
	Truncated bool         `json:"truncated"`
}

// FileChange counts the lines that differ. Path is relative to the write root.
type FileChange struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Notes are what a person should know of the change.
	Notes []string `json:"notes,omitempty"`
}

// StopMark is the request that ended the session. By is "chatgpt", "user"
// or, for a write whose outcome nobody can tell, "gateway".
type StopMark struct {
	RequestID turn.Key  `json:"request_id"`
	Reason    string    `json:"reason"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

// Terminal says how the last run came to an end without a result. Outcome is
// "failed", "stopped", "expired", "lost" or "denied"; Code is null for a plain
// stop.
type Terminal struct {
	Outcome string     `json:"outcome"`
	Code    *turn.Code `json:"code"`
	At      time.Time  `json:"at"`
}

// DeepSeekRoute, DeepSeekState and Approval are parts of the shape that stay
// null or empty until a session uses a subagent or needs an approval.
type DeepSeekRoute struct {
	Tier  string `json:"tier"`
	Model string `json:"model"`
}

// DeepSeekState is one subagent of the session.
type DeepSeekState struct {
	SubsessionID string    `json:"subsession_id"`
	State        string    `json:"state"`
	Tier         string    `json:"tier"`
	StartedAt    time.Time `json:"started_at"`
}

// Approval is a person's pending or given answer.
type Approval struct {
	State      string    `json:"state"`
	ExpiresAt  time.Time `json:"expires_at"`
	Generation int       `json:"generation"`
}

// HistoryTurn is one past turn, for a new conversation that takes over.
type HistoryTurn struct {
	RunID    turn.RunID `json:"run_id"`
	Sequence int        `json:"sequence"`
	Prompt   string     `json:"prompt,omitempty"`
	Text     string     `json:"text,omitempty"`
	Results  []Result   `json:"results,omitempty"`
}
