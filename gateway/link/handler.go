package link

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/turn"
)

// Backend is what the gateway does with requests. Its methods may be called by
// many goroutines, and again with the same arguments. Errors that are a
// *turn.Refusal reach the shim with their code. The shim asks again after
// turn.ShuttingDown, turn.InternalError, turn.NoSpace and every error that is no
// refusal, which is logged; any other refusal is final.
type Backend interface {
	// Authenticate refuses with Unauthorized if token is not the run's. A shim
	// of a settled run is let in: it has to be told to end.
	Authenticate(run turn.RunID, token string) error
	Hello(ctx context.Context, h Hello) (Directive, error)
	// Watch, Offer and Call wait for their answer. When ctx ends with the cause
	// ErrNotYet they return, and are called again later.
	Watch(ctx context.Context, w Watch) (Directive, error)
	Offer(ctx context.Context, o Offer) (Release, error)
	Call(ctx context.Context, c Call) (CallResult, error)
	Exit(ctx context.Context, e Exit) error
}

// Handler serves the shims of a backend. log must not be nil.
func Handler(b Backend, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	serve(mux, b, log, helloPath, func(ctx context.Context, h Hello) (Directive, error) {
		if h.Protocol < oldest || h.Protocol > Version {
			return Directive{}, turn.Refuse(UnsupportedProtocol, "this gateway speaks %d to %d", oldest, Version)
		}
		d, err := b.Hello(ctx, h)
		d.Protocol = h.Protocol
		return d, err
	})
	serve(mux, b, log, watchPath, b.Watch)
	serve(mux, b, log, offerPath, b.Offer)
	serve(mux, b, log, callPath, b.Call)
	serve(mux, b, log, exitPath, func(ctx context.Context, e Exit) (struct{}, error) {
		return struct{}{}, b.Exit(ctx, e)
	})
	return mux
}

// oldest is the oldest protocol that a server speaks.
const oldest = max(1, Version-1)

// request is a body that names its run.
type request interface{ run() turn.RunID }

func (h Hello) run() turn.RunID { return h.Run }
func (w Watch) run() turn.RunID { return w.Run }
func (o Offer) run() turn.RunID { return o.Run }
func (c Call) run() turn.RunID  { return c.Run }
func (e Exit) run() turn.RunID  { return e.Run }

// serve answers one path: who asks, what, and then the backend.
func serve[Q request, A any](mux *http.ServeMux, b Backend, log *slog.Logger, path string, answer func(context.Context, Q) (A, error)) {
	fail := func(w http.ResponseWriter, run turn.RunID, err error) {
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok || refusal.Code == turn.InternalError || refusal.Code == turn.NoSpace {
			log.Error("answer shim", "path", path, "run", run, "err", err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if refusal.Cause != nil {
			log.Warn("refuse shim", "path", path, "run", run, "code", refusal.Code, "err", refusal.Cause)
		}
		status, ok := statuses[refusal.Code]
		if !ok {
			status = http.StatusConflict
		}
		send(w, log, status, wireRefusal{refusal.Code, refusal.Detail})
	}
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		run := turn.RunID(r.Header.Get(runHeader))
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if run == "" || !ok || token == "" {
			fail(w, run, turn.Refuse(Unauthorized, ""))
			return
		}
		if err := b.Authenticate(run, token); err != nil {
			fail(w, run, err)
			return
		}
		var q Q
		if err := decode(r.Body, &q, jsonv2.RejectUnknownMembers(true)); err != nil {
			if errors.Is(err, errTooLarge) {
				fail(w, run, turn.Refuse(turn.TooLarge, ""))
				return
			}
			fail(w, run, turn.RefuseFor(MalformedRequest, err, ""))
			return
		}
		if q.run() != run {
			fail(w, run, turn.Refuse(MalformedRequest, "the body speaks for another run"))
			return
		}
		ctx, cancel := context.WithTimeoutCause(r.Context(), PollTimeout, ErrNotYet)
		defer cancel()
		a, err := answer(ctx, q)
		switch {
		case err == nil:
			send(w, log, http.StatusOK, a)
		case context.Cause(ctx) == ErrNotYet && isContextEnd(err):
			w.WriteHeader(http.StatusNoContent)
		case r.Context().Err() != nil && isContextEnd(err):
			// The shim went away, or this server ends: it will ask again.
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fail(w, run, err)
		}
	})
}

// isContextEnd reports whether err says no more than that the context ended.
func isContextEnd(err error) bool {
	return errors.Is(err, ErrNotYet) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func send(w http.ResponseWriter, log *slog.Logger, status int, v any) {
	body, err := encode(v)
	if err != nil {
		log.Error("answer shim", "err", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
