package turn

import (
	"crypto/rand"
	"strings"
)

// Ids are opaque, unguessable and carry a prefix that says what they name, so
// that a mix-up is visible at a glance and in every log line. Each kind has a
// type of its own; they do not convert into each other by accident.
type (
	// SessionID names a session for life.
	SessionID string
	// RunID names one Claude Code process from a prompt to its result.
	RunID string
	// TurnID names one model request and its answer.
	TurnID string
	// ActionID names one authorised tool call.
	ActionID string
	// LeaseID is the right to answer now. It is a secret of its holder.
	LeaseID string
	// ReceiptID names the durable result of an action.
	ReceiptID string
	// ToolUseID is the id of a tool_use block as Claude Code sees it. The
	// gateway makes it, and one belongs to exactly one action.
	ToolUseID string
	// Key is a caller's idempotency key, in the scope that the call defines.
	Key string
)

// Epoch counts the rotations of a session's lease. It only grows; a writer
// that carries an older epoch is fenced.
type Epoch uint64

// NewSessionID returns a fresh id. The others below are alike.
func NewSessionID() SessionID { return SessionID(newID("ses_")) }

// NewRunID returns a fresh id.
func NewRunID() RunID { return RunID(newID("run_")) }

// NewTurnID returns a fresh id.
func NewTurnID() TurnID { return TurnID(newID("trn_")) }

// NewActionID returns a fresh id.
func NewActionID() ActionID { return ActionID(newID("act_")) }

// NewLeaseID returns a fresh id.
func NewLeaseID() LeaseID { return LeaseID(newID("lea_")) }

// NewReceiptID returns a fresh id.
func NewReceiptID() ReceiptID { return ReceiptID(newID("rec_")) }

// NewToolUseID returns a fresh id in the form that the Messages API uses.
func NewToolUseID() ToolUseID { return ToolUseID(newID("toolu_")) }

// newID appends 130 bits of randomness to the prefix.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
