package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// callParams are the parameters of tools/call. ToolUseID is the exact link to
// the authorised call.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      struct {
		ToolUseID turn.ToolUseID `json:"claudecode/toolUseId"`
	} `json:"_meta"`
}

type callResult struct {
	Content []textContent `json:"content"`
	IsError bool          `json:"isError"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// serveCall answers tools/call as an event stream: a silent JSON answer is
// given up after six minutes.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, req rpcRequest) {
	var p callParams
	if err := jsonv2.Unmarshal(req.Params, &p); err != nil {
		s.rpcFail(w, req.ID, invalidParams, "parameters cannot be read")
		return
	}
	if !slices.ContainsFunc(s.cfg.Tools, func(t Tool) bool { return t.Name == p.Name }) {
		s.rpcFail(w, req.ID, invalidParams, "no such tool")
		return
	}
	if p.Meta.ToolUseID == "" {
		s.rpcFail(w, req.ID, invalidParams, "call without the id of its tool_use block")
		return
	}
	if p.Arguments == nil {
		p.Arguments = json.RawMessage("{}")
	}

	// Waiting ends with the client; the action itself is the gateway's.
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(ErrClosed) })()
	var result link.CallResult
	var err error
	done := make(chan struct{})
	s.spawn(func() {
		defer close(done)
		result, err = s.cfg.Call(ctx, link.Call{Run: s.cfg.Run, ToolUseID: p.Meta.ToolUseID, Name: p.Name, Arguments: p.Arguments})
	})
	eventStream(w)
	if !keepAlive(w, r, comment, comment, s.cfg.PingInterval, done) {
		return
	}
	if err != nil {
		result = s.explainCall(err)
	}
	answer, err := json.Marshal(rpcResponse{Version: "2.0", ID: req.ID, Result: callResult{
		Content: []textContent{{"text", result.Text}}, IsError: result.IsError}})
	if err != nil {
		s.cfg.Log.Error("encode tool result", "err", err)
		return
	}
	fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
}

// comment is an event that says nothing and shows that the server lives.
var comment = []byte(": wait\n\n")

// explainCall makes a result of a call that the gateway did not take.
func (s *Server) explainCall(err error) link.CallResult {
	if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
		text := string(refusal.Code)
		if refusal.Detail != "" {
			text += ": " + refusal.Detail
		}
		return link.CallResult{Text: text, IsError: true}
	}
	if s.ctx.Err() == nil {
		s.cfg.Log.Error("answer tool call", "err", err)
	}
	return link.CallResult{Text: "the call was not answered; its outcome is in the receipt", IsError: true}
}
