package control

import (
	"context"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type continueArgs struct {
	Session        turn.SessionID `json:"native_session_id"`
	Lease          turn.LeaseID   `json:"lease_id"`
	Prompt         string         `json:"prompt"`
	IdempotencyKey turn.Key       `json:"idempotency_key"`
	Wait           *float64       `json:"wait_seconds"`
}

func continueTool() *tool {
	return define("continue", hints{idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a continueArgs) (session.Snapshot, error) {
			if err := checkPrompt(a.Prompt); err != nil {
				return session.Snapshot{}, err
			}
			return s.engine.Continue(ctx, session.ContinueRequest{
				Holder:         h,
				Session:        a.Session,
				Lease:          a.Lease,
				Prompt:         a.Prompt,
				IdempotencyKey: a.IdempotencyKey,
				Wait:           s.wait(a.Wait, 30*time.Second),
			})
		})
}
