package admin

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"deckhand/gateway/turn"
)

// events answers what is there, or with wait=1 the first that comes.
func (s *Server) events(r *http.Request) (any, error) {
	after, err := number(r, "after", 0, math.MaxUint64, 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", 1, MaxEvents, MaxEvents)
	if err != nil {
		return nil, err
	}
	wait, err := number(r, "wait", 0, 1, 0)
	if err != nil {
		return nil, err
	}
	session := turn.SessionID(r.URL.Query().Get("session"))
	if wait == 1 {
		return s.nextEvents(r.Context(), after, session, int(limit))
	}
	events, err := s.backend.Events(r.Context(), after, session, int(limit))
	if err != nil {
		return nil, err
	}
	return eventsAnswer{Events: append([]turn.Event{}, events...), Next: last(events, after)}, nil
}

// nextEvents waits until there are events of session above after. It reads the
// events of all sessions and picks: only so does it know how far it has read,
// and does not wake for ever on an event that it passed over before.
func (s *Server) nextEvents(ctx context.Context, after uint64, session turn.SessionID, limit int) (eventsAnswer, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, PollTimeout, errNothingNew)
	defer cancel()
	for {
		err := s.backend.WaitEvents(waiting, after)
		switch {
		case errors.Is(context.Cause(waiting), errNothingNew):
			return eventsAnswer{Events: []turn.Event{}, Next: after}, nil
		case err != nil:
			if refusal, ok := errors.AsType[*turn.Refusal](context.Cause(ctx)); ok {
				return eventsAnswer{}, refusal
			}
			return eventsAnswer{}, err
		}
		events, err := s.backend.Events(ctx, after, "", limit)
		if err != nil {
			return eventsAnswer{}, err
		}
		after = last(events, after)
		if session != "" {
			events = slices.DeleteFunc(events, func(e turn.Event) bool { return e.Session != session })
		}
		if len(events) > 0 {
			return eventsAnswer{Events: events, Next: after}, nil
		}
	}
}

var errNothingNew = errors.New("nothing new within " + PollTimeout.Round(time.Second).String())

func last(events []turn.Event, after uint64) uint64 {
	if n := len(events); n > 0 {
		return events[n-1].Seq
	}
	return after
}
