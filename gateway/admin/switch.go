package admin

import (
	"context"
	"net/http"
	"net/url"

	"deckhand/gateway/turn"
)

// Switches turns what holds for all sessions on and off. A running gateway
// offers it, and so does an engine that a command opened itself.
type Switches interface {
	Switches(ctx context.Context) (turn.Switches, error)
	Flip(ctx context.Context, which turn.Switch, on bool) (turn.Switches, error)
}

var _ Switches = (*Client)(nil)

func (s *Server) switches(r *http.Request) (any, error) { return s.backend.Switches(r.Context()) }

func (s *Server) flip(r *http.Request) (any, error) {
	var req flipRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	which := turn.Switch(r.PathValue("switch"))
	s.log.Info("switch turned by the user", "switch", which, "on", req.On)
	return s.backend.Flip(r.Context(), which, req.On)
}

// Switches says which switches are on.
func (c *Client) Switches(ctx context.Context) (turn.Switches, error) {
	return call[turn.Switches](ctx, c, http.MethodGet, "/v1/switches", nil)
}

// Flip turns a switch.
func (c *Client) Flip(ctx context.Context, which turn.Switch, on bool) (turn.Switches, error) {
	return call[turn.Switches](ctx, c, http.MethodPost, "/v1/switches/"+url.PathEscape(string(which)), flipRequest{On: on})
}
