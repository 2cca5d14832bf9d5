package admin

import (
	"context"
	"net/http"
	"slices"

	"deckhand/gateway/session"
)

// pruneAtOnce is how many sessions one call names, so that its body fits.
const pruneAtOnce = 400

type pruneRequest struct {
	Sessions []session.PruneTarget `json:"sessions"`
	DryRun   bool                  `json:"dry_run"`
}

var _ Pruner = (*Client)(nil)

func (s *Server) prune(r *http.Request) (any, error) {
	var req pruneRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info("sessions pruned by the user", "sessions", len(req.Sessions), "dry_run", req.DryRun)
	return s.backend.Prune(r.Context(), req.Sessions, req.DryRun)
}

// Prune removes sessions or, for a dry run, says which it would. After an error
// some may be gone.
func (c *Client) Prune(ctx context.Context, targets []session.PruneTarget, dryRun bool) (session.PruneReport, error) {
	whole := session.PruneReport{DryRun: dryRun, Pruned: []session.PruneTarget{}, Kept: []session.PruneKept{}}
	for part := range slices.Chunk(targets, pruneAtOnce) {
		report, err := callWithin[session.PruneReport](ctx, workTimeout, c, http.MethodPost, "/v1/prune", pruneRequest{Sessions: part, DryRun: dryRun})
		if err != nil {
			return whole, err
		}
		whole.Pruned, whole.Kept = append(whole.Pruned, report.Pruned...), append(whole.Kept, report.Kept...)
	}
	return whole, nil
}
