package control

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

type replyArgs struct {
	Session turn.SessionID `json:"native_session_id"`
	Lease   turn.LeaseID   `json:"lease_id"`
	Turn    turn.TurnID    `json:"turn_id"`
	ReplyID turn.Key       `json:"reply_id"`
	Text    string         `json:"text"`
	Calls   []callArgs     `json:"tool_calls"`
	Wait    *float64       `json:"wait_seconds"`
}

type callArgs struct {
	Name string `json:"name"`
	// Arguments stay as they came: the engine checks them against the tool's
	// schema and makes them canonical.
	Arguments jsontext.Value `json:"arguments"`
}

func replyTool() *tool {
	return define("reply_and_wait", hints{destructive: true, idempotent: true},
		func(ctx context.Context, s *Server, h session.Holder, a replyArgs) (session.Snapshot, error) {
			calls := make([]session.Call, len(a.Calls))
			for i, c := range a.Calls {
				calls[i] = session.Call{Name: c.Name, Arguments: json.RawMessage(c.Arguments)}
			}
			return s.engine.Reply(ctx, session.ReplyRequest{
				Holder:  h,
				Session: a.Session,
				Lease:   a.Lease,
				Turn:    a.Turn,
				ReplyID: a.ReplyID,
				Text:    a.Text,
				Calls:   calls,
				Wait:    s.wait(a.Wait, 30*time.Second),
			})
		})
}
