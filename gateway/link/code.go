package link

import (
	"errors"

	"deckhand/gateway/turn"
)

// Codes of refusals that are about the link itself. Each but MalformedRequest
// means that the shim has nothing left to do: see MustEnd.
const (
	// RunSettled: the run has ended for the gateway; nothing more is taken.
	RunSettled turn.Code = "run_settled"
	// Unauthorized: the token is not this run's.
	Unauthorized turn.Code = "unauthorized"
	// UnsupportedProtocol: the shim is too old or too new for the gateway.
	UnsupportedProtocol turn.Code = "unsupported_protocol"
	// MalformedRequest: the request is not what this protocol version says.
	MalformedRequest turn.Code = "malformed_request"
)

// ErrNotYet is the cause with which Handler ends the context of a backend's
// method after PollTimeout. The shim asks again.
var ErrNotYet = errors.New("no answer yet")

// MustEnd reports whether err is a refusal after which a shim ends its Claude
// Code and itself.
func MustEnd(err error) bool {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	return ok && (refusal.Code == RunSettled || refusal.Code == Unauthorized || refusal.Code == UnsupportedProtocol)
}
