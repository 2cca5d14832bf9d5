package control

import (
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// Keys of the request log.
const (
	keyMethod   = "method"
	keyTool     = "tool"
	keyStatus   = "status"
	keyCode     = "code"
	keyDuration = "duration"
	keyClient   = "client"
)

// observe opens the exchange, logs each request without its contents, and
// turns a panic below it into an answer.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		x := &exchange{}
		rec := &recorder{ResponseWriter: w}
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				s.logPanic(p)
				if rec.status == 0 {
					var id []byte
					if x.message != nil {
						id = x.message.id
					}
					writeRPCError(rec, http.StatusOK, id, codeInternal, internalText)
				}
			}
			s.logRequest(r, x, rec.status, time.Since(start))
			if p == http.ErrAbortHandler {
				panic(p)
			}
		}()
		next.ServeHTTP(rec, r.WithContext(withExchange(r.Context(), x)))
	})
}

// internalText is all that a client hears of a fault of the program.
const internalText = "internal error; the cause is in Deckhand's log"

// logPanic logs where, and the value only if the runtime made it: any other
// value may hold contents.
func (s *Server) logPanic(p any) {
	what := "a value"
	if err, ok := p.(interface {
		error
		RuntimeError()
	}); ok {
		what = err.Error()
	}
	s.log.Error("panic while serving a request", "panic", what, "stack", string(debug.Stack()))
}

func (s *Server) logRequest(r *http.Request, x *exchange, status int, d time.Duration) {
	method, tool, client := "", "", cleanClient(r.UserAgent())
	if m := x.message; m != nil {
		// The tool and any other method are names of the allow-lists by now, not a
		// client's text.
		method, tool, client = m.method, m.tool, m.client()
		if strings.HasPrefix(method, notification) {
			// What follows the prefix is the client's own text.
			method = notification + "*"
		}
		if m.fromChatGPT() {
			s.seen.note(time.Now())
		}
	}
	s.log.Info("request", keyMethod, method, keyTool, tool, keyStatus, status,
		keyCode, x.code, keyDuration, d, keyClient, client)
}

// recorder remembers the status of the answer, 0 before there is one. It has no
// Flush, without which mcp-go cannot turn an answer into an event stream.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}
