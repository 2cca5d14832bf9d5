package anthropic

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// ErrorType is the kind of an error answer; Claude Code reacts to it.
type ErrorType string

const (
	// InvalidRequest (status 400) ends the run at once.
	InvalidRequest ErrorType = "invalid_request_error"
	// Authentication (401): the token is missing or wrong.
	Authentication ErrorType = "authentication_error"
	// Permission (403): who asks, or by which name, is not allowed.
	Permission ErrorType = "permission_error"
	// NotFound (404): there is no such endpoint.
	NotFound ErrorType = "not_found_error"
	// TooLarge (413): the body is over its limit.
	TooLarge ErrorType = "request_too_large"
	// Unavailable (503): the server is going away; Claude Code asks again.
	Unavailable ErrorType = "api_error"
)

type wireError struct {
	Type  string `json:"type"`
	Error struct {
		Type    ErrorType `json:"type"`
		Message string    `json:"message"`
	} `json:"error"`
}

func newError(kind ErrorType, message string) wireError {
	e := wireError{Type: "error"}
	e.Error.Type, e.Error.Message = kind, message
	return e
}

// ErrorBody encodes the body of an error answer. The message is public.
func ErrorBody(kind ErrorType, message string) ([]byte, error) {
	raw, err := json.Marshal(newError(kind, message))
	if err != nil {
		return nil, fmt.Errorf("encode error: %w", err)
	}
	return raw, nil
}

// ErrorEvent encodes the event that ends a stream which has begun already.
func ErrorEvent(kind ErrorType, message string) ([]byte, error) {
	return appendEvent(nil, "error", newError(kind, message))
}
