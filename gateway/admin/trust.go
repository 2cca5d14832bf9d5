package admin

import (
	"context"
	"net/http"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

var _ Trusts = (*Client)(nil)

func (s *Server) trusts(r *http.Request) (any, error) {
	trusts, err := s.backend.Trusts(r.Context())
	return trustsAnswer{Trusts: append([]session.Trust{}, trusts...)}, err
}

func (s *Server) revokeTrust(r *http.Request) (any, error) {
	var req revokeRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if req.All == (req.Folder != "") {
		return nil, turn.Refuse(turn.InvalidArguments, "name a folder, or all of them")
	}
	revoke := s.backend.RevokeAllTrust
	if !req.All {
		revoke = func(ctx context.Context) ([]session.Trust, error) { return s.backend.RevokeTrust(ctx, req.Folder) }
	}
	s.log.Info("trust revoked by the user", "all", req.All)
	revoked, err := revoke(r.Context())
	return trustsAnswer{Trusts: append([]session.Trust{}, revoked...)}, err
}

// Trusts lists the trusted folders by name.
func (c *Client) Trusts(ctx context.Context) ([]session.Trust, error) {
	answer, err := call[trustsAnswer](ctx, c, http.MethodGet, "/v1/trusts", nil)
	return answer.Trusts, err
}

// RevokeTrust takes back the trust in one folder and returns what it took back.
func (c *Client) RevokeTrust(ctx context.Context, folder string) ([]session.Trust, error) {
	return c.revoke(ctx, revokeRequest{Folder: folder})
}

// RevokeAllTrust takes back the trust in every folder.
func (c *Client) RevokeAllTrust(ctx context.Context) ([]session.Trust, error) {
	return c.revoke(ctx, revokeRequest{All: true})
}

func (c *Client) revoke(ctx context.Context, req revokeRequest) ([]session.Trust, error) {
	answer, err := call[trustsAnswer](ctx, c, http.MethodPost, "/v1/trusts/revoke", req)
	return answer.Trusts, err
}
