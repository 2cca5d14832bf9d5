package bridge

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"deckhand/gateway/anthropic"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// PingInterval is how often a waiting answer shows that it is still coming.
const PingInterval = 15 * time.Second

// maxBody bounds a request. The whole history comes with each.
const maxBody = 64 << 20

// Tool is a tool as Claude Code sees it.
type Tool struct {
	Name        string
	Description string
	// InputSchema is a JSON Schema object.
	InputSchema json.RawMessage
	// ReadOnly lets Claude Code call it at the same time as others.
	ReadOnly bool
}

// Config is what a Server works with. Everything but PingInterval and Log must
// be set.
type Config struct {
	Run turn.RunID
	// Token is what the port demands.
	Token string
	// Host is the only Host that is answered: "127.0.0.1:PORT".
	Host string
	// Name is the tool server's own name; Claude Code offers a tool T of it to
	// the model as mcp__NAME__T.
	Name   string
	Model  string
	Prompt string
	Tools  []Tool
	// Offer asks for the answer to a model request, and returns when it is
	// there. A *turn.Refusal says that there will be none, ever.
	Offer func(context.Context, link.Offer) (link.Release, error)
	// Call asks for the result of a tool call.
	Call func(context.Context, link.Call) (link.CallResult, error)
	// PingInterval is 15 s if zero.
	PingInterval time.Duration
	// Log is discarded if nil. It gets no contents.
	Log *slog.Logger
}

// Server answers one Claude Code. It is an http.Handler.
type Server struct {
	cfg    Config
	expect Expect
	mux    *http.ServeMux

	// ctx ends with Close; everything the server waits for ends with it.
	ctx    context.Context
	cancel context.CancelCauseFunc
	turns  turns

	mu     sync.Mutex
	closed bool           // guarded by mu; nothing is added to wg after it
	wg     sync.WaitGroup // offers and calls under way
}

// ErrClosed is the cause of everything that Close ends.
var ErrClosed = errors.New("bridge closed")

// New makes a server. Close ends it.
func New(cfg Config) (*Server, error) {
	if cfg.Run == "" || cfg.Token == "" || cfg.Host == "" || cfg.Name == "" || cfg.Model == "" ||
		cfg.Prompt == "" || cfg.Offer == nil || cfg.Call == nil {
		return nil, errors.New("make bridge: incomplete configuration")
	}
	if cfg.PingInterval == 0 {
		cfg.PingInterval = PingInterval
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.expect = Expect{Model: cfg.Model, Prompt: cfg.Prompt}
	for _, t := range cfg.Tools {
		s.expect.Tools = append(s.expect.Tools, ToolName(cfg.Name, t.Name))
	}
	s.mux.HandleFunc("HEAD /api/hello", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("POST /v1/messages", s.withKey(s.serveMessages))
	s.mux.HandleFunc("POST /v1/messages/count_tokens", s.withKey(s.serveCount))
	s.mux.HandleFunc("POST /mcp", s.withBearer(s.serveMCP))
	s.mux.HandleFunc("/mcp", s.withBearer(func(w http.ResponseWriter, _ *http.Request) {
		// No event stream of the server's own, no session to delete.
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
	}))
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, http.StatusNotFound, anthropic.NotFound, "no such endpoint")
	})
	return s, nil
}

// ToolName is the name by which Claude Code offers a tool to the model.
func ToolName(server, tool string) string { return "mcp__" + server + "__" + tool }

// Close ends everything that waits and returns when it has ended. Requests
// under way get an error. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(ErrClosed)
	s.wg.Wait()
}

// spawn runs f in a goroutine that Close waits for. After Close it runs f at
// once, whose context has ended already.
func (s *Server) spawn(f func()) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.wg.Go(f)
	}
	s.mu.Unlock()
	if closed {
		f()
	}
}

// Offers counts the distinct questions that were asked so far.
func (s *Server) Offers() int { return s.turns.count() }

// ServeHTTP refuses foreign requests before anything of them is read.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := r.Header["Origin"]; ok {
		s.fail(w, http.StatusForbidden, anthropic.Permission, "no web page may ask here")
		return
	}
	if r.Host != s.cfg.Host {
		s.fail(w, http.StatusForbidden, anthropic.Permission, "not this server's name")
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) withKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.isToken(r.Header.Get("X-Api-Key")) {
			s.fail(w, http.StatusUnauthorized, anthropic.Authentication, "wrong or missing key")
			return
		}
		next(w, r)
	}
}

func (s *Server) withBearer(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || !s.isToken(token) {
			s.fail(w, http.StatusUnauthorized, anthropic.Authentication, "wrong or missing token")
			return
		}
		next(w, r)
	}
}

// isToken compares hashes, in a time that tells nothing, not even a length.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// fail answers with an error body. Messages are fixed texts and codes.
func (s *Server) fail(w http.ResponseWriter, status int, kind anthropic.ErrorType, message string) {
	body, err := anthropic.ErrorBody(kind, message)
	if err != nil {
		s.cfg.Log.Error("encode error answer", "err", err)
	}
	s.send(w, status, body)
}

// send writes a whole JSON answer. A client that went away is not an error.
func (s *Server) send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
