package session

import (
	"encoding/json"
	"time"

	"deckhand/gateway/turn"
)

// Holder says who makes a call, as far as the transport can tell: for the log
// and for the scope of start's idempotency keys. It proves nothing.
type Holder struct {
	// Client is the caller's own name of itself, e.g. "openai-mcp/1.0.0".
	Client string
	// Conversation is ChatGPT's anonymous id of the conversation, or "".
	Conversation string
}

// StartRequest asks for a new session. Fields are checked by Engine.Start.
type StartRequest struct {
	Holder           Holder
	Prompt           string
	WorkingDirectory string
	IdempotencyKey   turn.Key
	Profile          turn.Profile
	SubagentPolicy   turn.SubagentPolicy
	Label            string
	Skills           []SkillContext
	Wait             time.Duration
}

// SkillContext names a skill of the allow-list; Content is nil when the skill
// is to be read from the skill folders.
type SkillContext struct {
	SkillID string  `json:"skill_id"`
	Content *string `json:"content,omitempty"`
}

// ContinueRequest asks for a new run of a session.
type ContinueRequest struct {
	Holder         Holder
	Session        turn.SessionID
	Lease          turn.LeaseID
	Prompt         string
	IdempotencyKey turn.Key
	Wait           time.Duration
}

// RecoverRequest asks for a new lease in exchange for the recovery token.
type RecoverRequest struct {
	Holder     Holder
	Session    turn.SessionID
	Token      string
	RecoveryID turn.Key
	Wait       time.Duration
}

// ReplyRequest answers one pending turn.
type ReplyRequest struct {
	Holder  Holder
	Session turn.SessionID
	Lease   turn.LeaseID
	Turn    turn.TurnID
	ReplyID turn.Key
	Text    string
	Calls   []Call
	Wait    time.Duration
}

// Call is one call of a reply as it arrived: Arguments is the raw JSON value,
// unchecked and not yet canonical.
type Call struct {
	Name      string
	Arguments json.RawMessage
}

// StatusRequest asks for the present state.
type StatusRequest struct {
	Holder  Holder
	Session turn.SessionID
	Lease   turn.LeaseID
	Wait    time.Duration
}

// StopRequest asks for the end of a session.
type StopRequest struct {
	Holder    Holder
	Session   turn.SessionID
	Lease     turn.LeaseID
	RequestID turn.Key
	Reason    string
}
