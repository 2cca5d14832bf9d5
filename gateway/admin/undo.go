package admin

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

var _ Undo = (*Client)(nil)

func (s *Server) writes(r *http.Request) (any, error) {
	writes, err := s.backend.Writes(r.Context(), id(r))
	return writesAnswer{Writes: append([]session.Write{}, writes...)}, err
}

func (s *Server) findWrites(r *http.Request) (any, error) {
	limit, err := number(r, "limit", 1, MaxFound, MaxFound)
	if err != nil {
		return nil, err
	}
	writes, err := s.backend.FindWrites(r.Context(), r.URL.Query().Get("prefix"), int(limit))
	return writesAnswer{Writes: append([]session.Write{}, writes...)}, err
}

func (s *Server) undoSession(r *http.Request) (any, error) {
	var req dryRunRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info("undo by the user", "session", id(r), "dry_run", req.DryRun)
	return s.backend.UndoSession(r.Context(), id(r), req.DryRun)
}

func (s *Server) undoAction(r *http.Request) (any, error) {
	var req dryRunRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	action := turn.ActionID(r.PathValue("id"))
	s.log.Info("undo by the user", "action", action, "dry_run", req.DryRun)
	return s.backend.UndoAction(r.Context(), action, req.DryRun)
}

// Writes lists the writes of a session, newest first, undone ones included.
func (c *Client) Writes(ctx context.Context, id turn.SessionID) ([]session.Write, error) {
	answer, err := call[writesAnswer](ctx, c, http.MethodGet, sessionPath(id)+"/writes", nil)
	return answer.Writes, err
}

// FindWrites returns the writes of all sessions whose action id begins with
// prefix, up to limit, which is at most MaxFound.
func (c *Client) FindWrites(ctx context.Context, prefix string, limit int) ([]session.Write, error) {
	q := url.Values{"prefix": {prefix}, "limit": {strconv.Itoa(limit)}}
	answer, err := call[writesAnswer](ctx, c, http.MethodGet, "/v1/writes?"+q.Encode(), nil)
	return answer.Writes, err
}

// UndoAction takes one write back or, for a dry run, says whether it could.
func (c *Client) UndoAction(ctx context.Context, id turn.ActionID, dryRun bool) (session.UndoReport, error) {
	return callWithin[session.UndoReport](ctx, workTimeout, c, http.MethodPost, "/v1/actions/"+url.PathEscape(string(id))+"/undo", dryRunRequest{DryRun: dryRun})
}

// UndoSession takes back every write of a session or, for a dry run, says which
// it could.
func (c *Client) UndoSession(ctx context.Context, id turn.SessionID, dryRun bool) (session.UndoReport, error) {
	return callWithin[session.UndoReport](ctx, workTimeout, c, http.MethodPost, sessionPath(id)+"/undo", dryRunRequest{DryRun: dryRun})
}
