package bridge

import (
	"encoding/json"
	"io"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/anthropic"
)

// The tool server speaks this version of MCP, whatever a client asks for.
const mcpVersion = "2025-11-25"

// maxCallBody bounds a tool call.
const maxCallBody = 16 << 20

// maxResultChars lifts Claude Code's limit of about 50 KB on a tool result,
// above which it would show a preview instead.
const maxResultChars = 500_000

// JSON-RPC error codes.
const (
	parseError     = -32700
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
)

type rpcRequest struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type rpcResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serveMCP answers POST /mcp: stateless, one message a request.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallBody))
	if err != nil {
		s.fail(w, http.StatusRequestEntityTooLarge, anthropic.TooLarge, "request over its limit")
		return
	}
	var req rpcRequest
	if err := jsonv2.Unmarshal(body, &req); err != nil {
		s.rpcFail(w, nil, parseError, "message cannot be read")
		return
	}
	if req.Version != "2.0" || req.Method == "" {
		s.rpcFail(w, req.ID, invalidRequest, "not a JSON-RPC 2.0 request")
		return
	}
	if req.ID == nil {
		w.WriteHeader(http.StatusAccepted) // a notification; none needs an act
		return
	}
	switch req.Method {
	case "initialize":
		s.rpcAnswer(w, req.ID, s.initializeResult())
	case "ping":
		s.rpcAnswer(w, req.ID, struct{}{})
	case "tools/list":
		s.rpcAnswer(w, req.ID, s.toolList())
	case "tools/call":
		s.serveCall(w, r, req)
	default:
		// server/discover among them: newer clients then initialize.
		s.rpcFail(w, req.ID, unknownMethod, "method not found")
	}
}

type initializeResult struct {
	ProtocolVersion string `json:"protocolVersion"`
	Capabilities    struct {
		Tools struct{} `json:"tools"`
	} `json:"capabilities"`
	ServerInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

func (s *Server) initializeResult() initializeResult {
	r := initializeResult{ProtocolVersion: mcpVersion}
	r.ServerInfo.Name, r.ServerInfo.Version = s.cfg.Name, "1"
	return r
}

type toolList struct {
	Tools []wireTool `json:"tools"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	} `json:"annotations"`
	Meta struct {
		MaxResultChars int `json:"anthropic/maxResultSizeChars"`
	} `json:"_meta"`
}

func (s *Server) toolList() toolList {
	list := toolList{Tools: []wireTool{}}
	for _, t := range s.cfg.Tools {
		w := wireTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		w.Annotations.ReadOnly = t.ReadOnly
		w.Meta.MaxResultChars = maxResultChars
		list.Tools = append(list.Tools, w)
	}
	return list
}

func (s *Server) rpcAnswer(w http.ResponseWriter, id json.RawMessage, result any) {
	s.rpcSend(w, http.StatusOK, rpcResponse{Version: "2.0", ID: id, Result: result})
}

// rpcFail answers with an error. A message that cannot be answered by its id
// is a fault of the request itself.
func (s *Server) rpcFail(w http.ResponseWriter, id json.RawMessage, code int, message string) {
	status := http.StatusOK
	if id == nil {
		status, id = http.StatusBadRequest, json.RawMessage("null")
	}
	s.rpcSend(w, status, rpcResponse{Version: "2.0", ID: id, Error: &rpcError{code, message}})
}

func (s *Server) rpcSend(w http.ResponseWriter, status int, answer rpcResponse) {
	body, err := json.Marshal(answer)
	if err != nil {
		s.cfg.Log.Error("encode tool server answer", "err", err)
		s.fail(w, http.StatusInternalServerError, anthropic.Unavailable, "the answer cannot be sent")
		return
	}
	s.send(w, status, body)
}
