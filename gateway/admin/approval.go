package admin

import (
	"context"
	"net/http"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

func (s *Server) waiting(r *http.Request) (any, error) {
	list, err := s.backend.Waiting(r.Context())
	return waitingAnswer{Waiting: append([]session.Waiting{}, list...)}, err
}

func (s *Server) approve(r *http.Request) (any, error) {
	return s.decide(r, "approved by the user", s.backend.Approve)
}

func (s *Server) deny(r *http.Request) (any, error) {
	return s.decide(r, "denied by the user", s.backend.Deny)
}

func (s *Server) decide(r *http.Request, what string,
	answer func(context.Context, turn.SessionID, int) (session.Snapshot, error)) (any, error) {
	var req approvalRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info(what, "session", id(r), "generation", req.Generation)
	return answer(r.Context(), id(r), req.Generation)
}

// Waiting lists the sessions that wait for a person, newest first.
func (c *Client) Waiting(ctx context.Context) ([]session.Waiting, error) {
	answer, err := call[waitingAnswer](ctx, c, http.MethodGet, "/v1/waiting", nil)
	return answer.Waiting, err
}

// Approve starts a session that waits for a person. Generation is that of the
// request which the person saw; a newer one is not answered.
func (c *Client) Approve(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	return call[session.Snapshot](ctx, c, http.MethodPost, sessionPath(id)+"/approve", approvalRequest{Generation: generation})
}

// Deny stops a session that waits for a person.
func (c *Client) Deny(ctx context.Context, id turn.SessionID, generation int) (session.Snapshot, error) {
	return call[session.Snapshot](ctx, c, http.MethodPost, sessionPath(id)+"/deny", approvalRequest{Generation: generation})
}
