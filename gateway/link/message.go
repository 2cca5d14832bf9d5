package link

import (
	"encoding/json"
	"time"

	"deckhand/gateway/turn"
)

// Version is the protocol this build speaks.
const Version = 1

// PollTimeout is how long the server holds a request that has no answer yet.
const PollTimeout = 25 * time.Second

// Hello is a shim's first request, and the first after it lost the gateway.
type Hello struct {
	Protocol int        `json:"protocol"`
	Run      turn.RunID `json:"run"`
}

// Directive tells a shim how long its run may live. It answers Hello and Watch.
type Directive struct {
	// Protocol is the version the server chose.
	Protocol int `json:"protocol"`
	// LeaseExpiresAt is when the shim ends its run by itself if it hears
	// nothing newer, also when no gateway is there. Wall time.
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
	// End tells the shim to end its Claude Code and itself now. The reason is
	// for the log.
	End       bool   `json:"end"`
	EndReason string `json:"end_reason,omitempty"`
}

// Watch waits until the directive differs from Seen.
type Watch struct {
	Run  turn.RunID `json:"run"`
	Seen Directive  `json:"seen"`
}

// TailKind says what the end of a model request is.
type TailKind string

const (
	// TailPrompt: the last user message is the run's prompt.
	TailPrompt TailKind = "prompt"
	// TailResults: the last user message is made of tool results.
	TailResults TailKind = "results"
	// TailOther: anything else. It never becomes a turn.
	TailOther TailKind = "other"
)

// Offer asks for the answer to one model request.
type Offer struct {
	Run turn.RunID `json:"run"`
	// Digest is the SHA-256, in hex, of what identifies the request; a repeat
	// of the same request, with or without "stream", has the same digest.
	Digest string `json:"digest"`
	// Tail is what the request ends with.
	Tail TailKind `json:"tail"`
	// ToolUseIDs are the ids whose results the tail holds: in the order in
	// which they were released, or, if they are not the last that were, in the
	// tail's.
	ToolUseIDs []turn.ToolUseID `json:"tool_use_ids,omitempty"`
	// Summary describes a TailOther request without its contents.
	Summary string `json:"summary,omitempty"`
}

// Release is the answer to an offer: what Claude Code gets to see.
type Release struct {
	Turn  turn.TurnID `json:"turn"`
	Text  string      `json:"text"`
	Calls []ToolUse   `json:"calls"`
}

// ToolUse is one authorised call. Name is the tool's own, as in Call.
type ToolUse struct {
	ID        turn.ToolUseID  `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Call asks for the result of one authorised call. Arguments are as Claude
// Code sent them.
type Call struct {
	Run       turn.RunID      `json:"run"`
	ToolUseID turn.ToolUseID  `json:"tool_use_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// CallResult is what Claude Code gets to see of a receipt.
type CallResult struct {
	Text    string `json:"text"`
	IsError bool   `json:"is_error"`
}

// Exit tells how a run's Claude Code ended. The shim also writes it to the
// run directory before it ends, so that it is known when no gateway was there.
type Exit struct {
	Run turn.RunID `json:"run"`
	// Code is the exit status of Claude Code, or -1 if a signal ended it.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// Ended says that the shim ended it, and EndReason why: the reason of a
	// directive, the code of a refusal (unexpected_model_request among them),
	// or a few words.
	Ended     bool   `json:"ended"`
	EndReason string `json:"end_reason,omitempty"`
	// Result says that Claude Code printed its result line; IsError and
	// Subtype are from that line.
	Result  bool   `json:"result"`
	IsError bool   `json:"is_error"`
	Subtype string `json:"subtype,omitempty"`
	// Offers counts the distinct model requests that the shim offered.
	Offers int `json:"offers"`
	// LaunchError says why Claude Code could not be started at all.
	LaunchError string `json:"launch_error,omitempty"`
	// LaunchCode is sandbox_unavailable, claude_not_found or launch_failed.
	LaunchCode turn.Code `json:"launch_code,omitempty"`
	// Version is what Claude Code calls itself, "" if it did not say.
	Version    string    `json:"version,omitempty"`
	FinishedAt time.Time `json:"finished_at"`
}
