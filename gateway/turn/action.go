package turn

import (
	"encoding/json"
	"time"
)

// ActionState is where an action stands. It only moves forward, but for an
// interrupted read, which may begin again.
type ActionState string

const (
	// Authorized: durable, and Claude Code may ask for it now.
	Authorized ActionState = "authorized"
	// Begun: it may be running. Without a receipt after a crash its outcome is
	// unknown.
	Begun ActionState = "begun"
	// Interrupted: begun before a crash, outcome unknown. A read begins again
	// when Claude Code asks again, and so does a write that provably did not
	// happen; anything else does not.
	Interrupted ActionState = "interrupted"
	// Finished: it has its receipt, which never changes.
	Finished ActionState = "finished"
)

// Outcome says how an action ended.
type Outcome string

const (
	// OK: it did what was asked.
	OK Outcome = "ok"
	// Error: it could not; the receipt's code and text say why.
	Error Outcome = "error"
	// OutcomeNotExecuted: it never began.
	OutcomeNotExecuted Outcome = "not_executed"
	// OutcomeInterrupted: it began, and nobody knows how it ended.
	OutcomeInterrupted Outcome = "interrupted"
	// OutcomeCancelled: it was ended by a stop.
	OutcomeCancelled Outcome = "cancelled"
)

// ToolCall is one call of a reply, as ChatGPT asked for it.
type ToolCall struct {
	Name string `json:"name"`
	// Arguments is a JSON object in canonical form (RFC 8785).
	Arguments json.RawMessage `json:"arguments"`
}

// Receipt is the durable result of an action. It never changes.
type Receipt struct {
	ID      ReceiptID `json:"id"`
	Action  ActionID  `json:"action"`
	Outcome Outcome   `json:"outcome"`
	// Code is empty if the outcome is OK.
	Code Code `json:"code,omitempty"`
	// SHA256 and Bytes describe the stored text, which is at most 64 KiB.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Truncated says that the tool had more to say than the text holds. The
	// text itself says how much and how to get it.
	Truncated  bool      `json:"truncated"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at"`
	// Attempts counts how often the action began: more than 1 only after a
	// crash, for a read, or for a write that had not happened.
	Attempts int `json:"attempts"`
	// Write is set if a file was changed.
	Write *WriteMark `json:"write,omitempty"`
}

// Result is what an executor says of one action: the receipt is made of it.
type Result struct {
	Outcome Outcome
	Code    Code
	// Text is valid UTF-8 of at most MaxReceiptText bytes.
	Text      string
	Truncated bool
	// Write is set if a file was changed.
	Write *WriteMark
}

// Failure makes the result of an action that could not do what was asked.
func Failure(code Code, text string) Result {
	return Result{Outcome: Error, Code: code, Text: text}
}
