package control

import (
	"context"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type statusArgs struct {
	Session turn.SessionID `json:"native_session_id"`
	Lease   turn.LeaseID   `json:"lease_id"`
	Wait    *float64       `json:"wait_seconds"`
}

func statusTool() *tool {
	return define("status", hints{readOnly: true, idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a statusArgs) (session.Snapshot, error) {
			return s.engine.Status(ctx, session.StatusRequest{
				Holder:  h,
				Session: a.Session,
				Lease:   a.Lease,
				Wait:    s.wait(a.Wait, 0),
			})
		})
}
