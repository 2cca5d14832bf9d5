package chatgpt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// The six tools.
const (
	ToolStart    = "native_session_start"
	ToolContinue = "native_session_continue"
	ToolRecover  = "native_session_recover"
	ToolReply    = "native_session_reply_and_wait"
	ToolStatus   = "native_session_status"
	ToolStop     = "native_session_stop"
)

// awaitSeconds is how long one call waits for a change: well under the minute
// after which ChatGPT gives a call up.
const awaitSeconds = 25

// ToolNames lists them in the order in which a conversation meets them.
func ToolNames() []string {
	return []string{ToolStart, ToolContinue, ToolRecover, ToolReply, ToolStatus, ToolStop}
}

// Start are the arguments of native_session_start.
type Start struct {
	Prompt           string `json:"prompt"`
	WorkingDirectory string `json:"working_directory"`
	IdempotencyKey   string `json:"idempotency_key"`
	Profile          string `json:"capability_profile,omitempty"`
	Label            string `json:"session_label,omitempty"`
	// WaitSeconds of 0 leaves the default.
	WaitSeconds int `json:"wait_seconds,omitempty"`
}

// ToolCall is one call of a reply.
type ToolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// Reply is what ChatGPT says to a turn: text, calls, or both.
type Reply struct {
	Text  string
	Calls []ToolCall
}

// Session is what a conversation remembers of one session.
type Session struct {
	client *Client
	// ID, Lease and Token are what the calls need. The gateway changes Lease
	// and Token when the session is recovered.
	ID, Lease, Token string
	// NoWait makes every call return at once; else each waits as long as its
	// default is.
	NoWait bool
	// Last is the newest answer.
	Last *Answer
}

// Client is the conversation's connection.
func (s *Session) Client() *Client { return s.client }

// Key returns a fresh idempotency key.
func Key() string { return "gpt-" + rand.Text() }

// Start starts a session. An empty key is filled in.
func (c *Client) Start(ctx context.Context, args Start) (*Session, error) {
	if args.IdempotencyKey == "" {
		args.IdempotencyKey = Key()
	}
	s := &Session{client: c}
	_, err := s.call(ctx, ToolStart, args)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Join makes a session of what another conversation knew of it.
func (c *Client) Join(id, lease, token string) *Session {
	return &Session{client: c, ID: id, Lease: lease, Token: token}
}

// Continue asks for a new run.
func (s *Session) Continue(ctx context.Context, prompt string) (*Answer, error) {
	return s.call(ctx, ToolContinue, s.waiting(map[string]any{
		"native_session_id": s.ID, "lease_id": s.Lease, "prompt": prompt, "idempotency_key": Key(),
	}))
}

// Recover exchanges the recovery token for a new lease.
func (s *Session) Recover(ctx context.Context) (*Answer, error) {
	return s.call(ctx, ToolRecover, s.waiting(map[string]any{
		"native_session_id": s.ID, "recovery_token": s.Token, "recovery_id": Key(),
	}))
}

// Reply answers the turn that the last answer held, under a fresh reply id.
func (s *Session) Reply(ctx context.Context, reply Reply) (*Answer, error) {
	if s.Last == nil || s.Last.Turn == nil {
		return nil, errors.New("no turn waits for a reply")
	}
	return s.ReplyTo(ctx, s.Last.Turn.ID, Key(), reply)
}

// ReplyTo answers a turn under a reply id of the caller's.
func (s *Session) ReplyTo(ctx context.Context, turn, id string, reply Reply) (*Answer, error) {
	args := map[string]any{"native_session_id": s.ID, "lease_id": s.Lease, "turn_id": turn, "reply_id": id}
	if reply.Text != "" {
		args["text"] = reply.Text
	}
	if len(reply.Calls) > 0 {
		args["tool_calls"] = reply.Calls
	}
	return s.call(ctx, ToolReply, s.waiting(args))
}

// Status asks for the present state, waiting up to wait seconds for a change.
func (s *Session) Status(ctx context.Context, wait int) (*Answer, error) {
	return s.call(ctx, ToolStatus, map[string]any{
		"native_session_id": s.ID, "lease_id": s.Lease, "wait_seconds": wait,
	})
}

// Await asks for the state until a turn waits for its reply or nothing runs any
// more. It returns the last answer if that is so already.
func (s *Session) Await(ctx context.Context) (*Answer, error) {
	for s.Last == nil || !s.Last.HolderCanAct() {
		if _, err := s.Status(ctx, awaitSeconds); err != nil {
			return nil, err
		}
	}
	return s.Last, nil
}

// Stop ends the session.
func (s *Session) Stop(ctx context.Context, reason string) (*Answer, error) {
	return s.call(ctx, ToolStop, map[string]any{
		"native_session_id": s.ID, "lease_id": s.Lease, "request_id": Key(), "reason": reason,
	})
}

func (s *Session) waiting(args map[string]any) map[string]any {
	if s.NoWait {
		args["wait_seconds"] = 0
	}
	return args
}

// call makes a call and keeps what its answer says.
func (s *Session) call(ctx context.Context, tool string, args any) (*Answer, error) {
	answer, err := s.client.Call(ctx, tool, args)
	if err != nil {
		return nil, err
	}
	if s.ID != "" && answer.Session != s.ID {
		return nil, fmt.Errorf("%s answered for another session: %s, not %s", tool, answer.Session, s.ID)
	}
	s.ID = answer.Session
	if answer.Lease != "" {
		s.Lease = answer.Lease
	}
	if answer.RecoveryToken != "" {
		s.Token = answer.RecoveryToken
	}
	s.Last = answer
	return answer, nil
}
