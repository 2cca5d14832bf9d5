package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// Server answers admin calls. Make it with NewServer.
type Server struct {
	backend Backend
	gateway Gateway
	secret  Secret
	log     *slog.Logger
}

// NewServer returns a server that demands secret, which must not be empty.
// A nil log discards.
func NewServer(b Backend, g Gateway, secret Secret, log *slog.Logger) (*Server, error) {
	if secret.Reveal() == "" {
		return nil, errors.New("make admin server: empty secret")
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{backend: b, gateway: g, secret: secret, log: log}, nil
}

// Serve answers on ln until ctx ends, and returns when every call has ended.
// It closes ln. The error is nil if ctx ended it.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	srv := &http.Server{
		Handler:           s.Handler(),
		BaseContext:       func(net.Listener) context.Context { return calls },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve admin socket: %w", err)
	case <-ctx.Done():
	}
	// Calls that wait for events end at once; those under way get a moment.
	cancel(turn.Refuse(turn.ShuttingDown, "the gateway is ending"))
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	err := srv.Shutdown(grace)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-served
	if err != nil {
		return fmt.Errorf("end admin socket: %w", err)
	}
	return nil
}

// Handler returns the calls behind the check of the token.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for route, call := range map[string]func(*http.Request) (any, error){
		routeStatus:   s.status,
		routeSessions: s.sessions,
		routeInspect:  s.inspect,
		routeStop:     s.stop,
		routeRecovery: s.recoveryToken,
		routeEvents:   s.events,
		routeToken:    s.token,
		routeRotate:   s.rotate,
		routeGreet:    s.greet,
		routeQuit:     s.quit,

		routeSwitches: s.switches,
		routeFlip:     s.flip,

		routeWaiting:     s.waiting,
		routeApprove:     s.approve,
		routeDeny:        s.deny,
		routeActions:     s.actions,
		routeWrites:      s.writes,
		routeFindWrites:  s.findWrites,
		routeUndoSession: s.undoSession,
		routeUndoAction:  s.undoAction,

		routeTrusts: s.trusts,
		routeRevoke: s.revokeTrust,

		routePrune: s.prune,

		routeWorktrees: s.worktrees,
		routeDiff:      s.diff,
		routeApply:     s.apply,
		routeCommit:    s.commit,
		routeRemove:    s.remove,
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			answer, err := call(r)
			s.answer(w, r, answer, err)
		})
	}
	mux.HandleFunc(routePatch, s.patch)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || !s.secret.Equal(token) {
			s.log.Warn("admin call refused", "reason", "wrong token", "call", r.URL.Path)
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close")
			s.answer(w, r, nil, turn.Refuse(unauthorized, "the token is missing or wrong"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	})
}

// answer writes an answer or an error. A fault of the gateway is logged here,
// and the caller only learns that there was one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, answer any, err error) {
	status := http.StatusOK
	if err != nil {
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok {
			s.log.Error("admin call failed", "call", r.URL.Path, "error", err)
			refusal = turn.Refuse(turn.InternalError, "the gateway could not do that; its log says why")
		}
		var body errorAnswer
		body.Error.Code, body.Error.Detail = refusal.Code, refusal.Detail
		status, answer = httpStatus(refusal.Code), body
	}
	if err := writeJSON(w, status, answer); err != nil && r.Context().Err() == nil {
		s.log.Debug("write admin answer", "call", r.URL.Path, "error", err)
	}
}

func (s *Server) status(r *http.Request) (any, error) { return s.gateway.Status(r.Context()) }

func (s *Server) sessions(r *http.Request) (any, error) {
	list, err := s.backend.List(r.Context())
	return sessionsAnswer{Sessions: append([]session.Summary{}, list...)}, err
}

func (s *Server) inspect(r *http.Request) (any, error) {
	return s.backend.Inspect(r.Context(), id(r))
}

func (s *Server) actions(r *http.Request) (any, error) {
	actions, err := s.backend.Actions(r.Context(), id(r))
	return actionsAnswer{Actions: append([]session.Action{}, actions...)}, err
}

func (s *Server) stop(r *http.Request) (any, error) {
	var req stopRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if len(req.Reason) > turn.MaxReason || !utf8.ValidString(req.Reason) {
		return nil, turn.Refuse(turn.InvalidArguments, "reason must be UTF-8 of at most %d bytes", turn.MaxReason)
	}
	s.log.Info("stop by the user", "session", id(r))
	return s.backend.StopByUser(r.Context(), id(r), req.Reason)
}

func (s *Server) recoveryToken(r *http.Request) (any, error) {
	s.log.Info("recovery token handed to the user", "session", id(r))
	token, err := s.backend.RecoveryToken(r.Context(), id(r))
	return tokenAnswer{Token: token}, err
}

func (s *Server) token(*http.Request) (any, error) {
	return tokenAnswer{Token: s.gateway.LocalToken()}, nil
}

func (s *Server) rotate(*http.Request) (any, error) {
	s.log.Info("local token rotated by the user")
	token, err := s.gateway.RotateLocalToken()
	return tokenAnswer{Token: token}, err
}

func (s *Server) greet(*http.Request) (any, error) {
	return greetAnswer{Noticed: s.gateway.Greet()}, nil
}

func (s *Server) quit(*http.Request) (any, error) {
	s.log.Info("quit by the user")
	s.gateway.Quit()
	return quitAnswer{Ending: true}, nil
}

func id(r *http.Request) turn.SessionID { return turn.SessionID(r.PathValue("id")) }

// decode reads a body strictly: one JSON value, no unknown field.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return turn.Refuse(turn.TooLarge, "the body is larger than %d bytes", maxBody)
		}
		return turn.RefuseFor(turn.InvalidArguments, err, "the body is not what this call takes")
	}
	if _, err := d.Token(); err != io.EOF {
		return turn.Refuse(turn.InvalidArguments, "the body goes on after its JSON value")
	}
	return nil
}

// number reads a query parameter from low to high; absent is def.
func number(r *http.Request, name string, low, high, def uint64) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, turn.Refuse(turn.InvalidArguments, "%s must be a number from %d to %d", name, low, high)
	}
	return n, nil
}
