package control

import (
	"context"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type stopArgs struct {
	Session   turn.SessionID `json:"native_session_id"`
	Lease     turn.LeaseID   `json:"lease_id"`
	RequestID turn.Key       `json:"request_id"`
	Reason    string         `json:"reason"`
}

func stopTool() *tool {
	return define("stop", hints{destructive: true, idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a stopArgs) (session.Snapshot, error) {
			return s.engine.Stop(ctx, session.StopRequest{
				Holder:    h,
				Session:   a.Session,
				Lease:     a.Lease,
				RequestID: a.RequestID,
				Reason:    a.Reason,
			})
		})
}
