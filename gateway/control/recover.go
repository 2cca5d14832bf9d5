package control

import (
	"context"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type recoverArgs struct {
	Session    turn.SessionID `json:"native_session_id"`
	Token      string         `json:"recovery_token"`
	RecoveryID turn.Key       `json:"recovery_id"`
	Wait       *float64       `json:"wait_seconds"`
}

func recoverTool() *tool {
	return define("recover", hints{idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a recoverArgs) (session.Snapshot, error) {
			return s.engine.Recover(ctx, session.RecoverRequest{
				Holder:     h,
				Session:    a.Session,
				Token:      a.Token,
				RecoveryID: a.RecoveryID,
				Wait:       s.wait(a.Wait, 0),
			})
		})
}
