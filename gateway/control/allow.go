package control

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Methods that are let through, besides notifications.
const (
	methodDiscover   = "server/discover"
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodList       = "tools/list"
	methodCall       = "tools/call"
	notification     = "notifications/"
)

// allow is the JSON-RPC allow-list. Only messages of the six methods and
// notifications pass; a call must name one of the six tools.
func (s *Server) allow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := exchangeFrom(r.Context())
		m, f := parseMessage(x.body)
		x.body = nil
		if f == nil {
			f = s.judge(m)
		}
		if f != nil {
			writeRPCError(w, f.status, m.id, f.code, f.text)
			return
		}
		m.meta.readHeaders(r.Header)
		x.message = m
		next.ServeHTTP(w, r)
	})
}

// judge returns nil for a message that may pass.
func (s *Server) judge(m *message) *rpcFault {
	isNotification := strings.HasPrefix(m.method, notification)
	switch {
	case m.id == nil && isNotification:
		return nil
	case m.id == nil:
		return fault(400, codeInvalidRequest, "a request needs an id")
	case m.method == methodDiscover && s.refuseDiscover:
	case (m.method == methodInitialize || m.method == methodPing) && m.modern():
		// Gone since 2026-07-28. mcp-go says the same with a 404, which some
		// clients take for the end of the connection.
	case m.method == methodCall:
		return s.judgeTool(m.tool)
	case slices.Contains([]string{methodDiscover, methodInitialize, methodPing, methodList}, m.method):
		return nil
	}
	return fault(200, codeMethodNotFound, "this server has no such method; it answers tools/list and tools/call")
}

// judgeTool refuses every name but the six.
func (s *Server) judgeTool(name string) *rpcFault {
	if _, ok := s.tools[name]; ok {
		return nil
	}
	said := "the call names no tool"
	if name != "" {
		said = fmt.Sprintf("there is no tool %q", clip(name, 64))
	}
	return fault(200, codeInvalidParams,
		"%s; this server has exactly %s. If the list in ChatGPT shows others, it is an old copy: press Refresh in the connector's settings",
		said, strings.Join(s.toolNames(), ", "))
}

func (s *Server) toolNames() []string {
	names := make([]string, 0, len(s.tools))
	for name := range s.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
