package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deckhand/gateway/admin"
	"deckhand/gateway/turn"
)

// Exit codes.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2 // wrong arguments or settings
	exitNotRunning = 3 // the command needs a running gateway
	exitReadOnly   = 4 // protected: a path is never written
	exitHidden     = 5 // protected: a path is neither read nor written
	exitInterrupt  = 130
)

// usageError says that arguments or settings are wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hinted is an error with what to do next.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

func withHint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

// errUnhealthy is the end of a doctor that found something and has said so.
var errUnhealthy = errors.New("something needs attention")

// report prints what went wrong and returns the exit code. It is the only
// place that does either.
//
// Messages start with the program's name, are lowercase and have no full stop;
// what to do next stands on a line of its own.
func report(stdio Stdio, err error) int {
	if err == nil {
		return exitOK
	}
	if !told(err) {
		fmt.Fprintf(stdio.Err, "deckhand: %s\n", printable(message(err)))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(stdio.Err, "  %s\n", printable(hint))
		}
	}
	return exitCode(err)
}

// told reports whether the command itself has said what went wrong.
func told(err error) bool {
	return err == errUnhealthy || err == errConflicts || err == errReadOnly || err == errHidden
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, admin.ErrNotRunning):
		return exitNotRunning
	case errors.Is(err, context.Canceled):
		return exitInterrupt
	case err == errReadOnly:
		return exitReadOnly
	case err == errHidden:
		return exitHidden
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// message puts a refusal in words; its code stands behind for the search.
func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if !ok {
		return err.Error()
	}
	if refusal.Detail == "" {
		return strings.ReplaceAll(string(refusal.Code), "_", " ")
	}
	return fmt.Sprintf("%s (%s)", refusal.Detail, refusal.Code)
}

func hintOf(err error) string {
	if h, ok := errors.AsType[hinted](err); ok {
		return h.hint
	}
	switch {
	case errors.Is(err, admin.ErrNotRunning):
		return "start one with: deckhand serve"
	case errors.Is(err, admin.ErrUnauthorized), errors.Is(err, admin.ErrTooOld):
		return "end the gateway and start it again: deckhand serve"
	}
	return ""
}
