package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"deckhand/gateway/session"
)

// Name is what the server calls itself on the wire.
const Name = "deckhand"

// DefaultMaxWait is the longest that a call waits unless Config says otherwise.
// ChatGPT gives up after 60 s; OpenAI's tunnel may after 30 s, so behind it 25 s
// is right.
const DefaultMaxWait = 40 * time.Second

// maxWait is what the schemas allow to ask for.
const maxWait = 50 * time.Second

// Engine does what the six tools ask. Errors that the caller can act on are
// *turn.Refusal; the context only bounds the wait, never the work.
type Engine interface {
	Start(context.Context, session.StartRequest) (session.Snapshot, error)
	Continue(context.Context, session.ContinueRequest) (session.Snapshot, error)
	Recover(context.Context, session.RecoverRequest) (session.Snapshot, error)
	Reply(context.Context, session.ReplyRequest) (session.Snapshot, error)
	Status(context.Context, session.StatusRequest) (session.Snapshot, error)
	Stop(context.Context, session.StopRequest) (session.Snapshot, error)
}

// Config says what a Server is made of.
type Config struct {
	// Engine is required.
	Engine Engine
	// Version is the version of the app, as shown to clients. Required.
	Version string
	// MaxWait cuts wait_seconds: above 0, at most 50 s. 0 means DefaultMaxWait.
	MaxWait time.Duration
	// RefuseDiscover answers server/discover with -32601, so that clients fall
	// back to protocol version 2025-11-25.
	RefuseDiscover bool
	// Log is required.
	Log *slog.Logger
}

// Server serves the six tools. It has no goroutines and holds no sessions.
type Server struct {
	engine         Engine
	maxWait        time.Duration
	refuseDiscover bool
	log            *slog.Logger
	tools          map[string]*tool
	seen           lastSeen
	mcp            http.Handler
}

// New makes a server. Handler makes what listens.
func New(c Config) (*Server, error) {
	if c.Engine == nil || c.Log == nil || c.Version == "" {
		return nil, errors.New("make control server: engine, log and version are required")
	}
	if c.MaxWait == 0 {
		c.MaxWait = DefaultMaxWait
	}
	if c.MaxWait < 0 || c.MaxWait > maxWait {
		return nil, fmt.Errorf("make control server: longest wait %v is not between 0 and %v", c.MaxWait, maxWait)
	}
	s := &Server{engine: c.Engine, maxWait: c.MaxWait, refuseDiscover: c.RefuseDiscover, log: c.Log, tools: map[string]*tool{}}
	m := mcpserver.NewMCPServer(Name, c.Version,
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithInstructions(Instructions()),
	)
	for _, t := range allTools() {
		s.tools[t.name] = t
		m.AddTool(t.wire(), s.handle(t))
	}
	s.mcp = mcpserver.NewStreamableHTTPServer(m,
		mcpserver.WithStateLess(true),
		mcpserver.WithDisableStreaming(true),
		// checkHost replaces it; the library's guard knows no public name.
		mcpserver.WithDisableLocalhostProtection(true),
		mcpserver.WithStreamableHTTPLogger(c.Log),
	)
	return s, nil
}

// Handler makes the handler of one listener. All of a server's handlers share
// its engine and differ in who may come in.
func (s *Server) Handler(l Listener) http.Handler {
	h := http.Handler(http.HandlerFunc(s.forward))
	h = dropCancelled(h)
	h = fillHeaders(h)
	h = s.allow(h)
	h = limitBody(h)
	h = onlyPost(h)
	h = authenticate(l.Credential, h)
	h = onlyPath(h)
	h = checkOrigin(l.Origins, h)
	h = checkHost(l.Hosts, h)
	return s.observe(h)
}

// handle adapts a tool to mcp-go. The request that mcp-go decoded is not used:
// the exchange holds the raw arguments.
func (s *Server) handle(t *tool) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := exchangeFrom(ctx)
		snapshot, err := t.call(ctx, s, x.message.holder(), x.message.arguments)
		if err != nil {
			return s.refuse(ctx, x, err), nil
		}
		return answer(snapshot, x.message.fromChatGPT())
	}
}

// wait turns the argument, if there is one, into how long a call may wait.
func (s *Server) wait(seconds *float64, def time.Duration) time.Duration {
	if seconds != nil {
		def = time.Duration(*seconds) * time.Second
	}
	return min(def, s.maxWait)
}
