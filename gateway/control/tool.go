package control

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"deckhand/gateway/session"
)

// tool is one of the six. call decodes the raw arguments and asks the engine.
type tool struct {
	name        string
	description string
	schema      *schema
	hints       hints
	call        func(context.Context, *Server, session.Holder, jsontext.Value) (session.Snapshot, error)
}

// hints are the annotations of a tool. All four are always sent: a client
// takes a missing one for the worst.
type hints struct{ readOnly, destructive, idempotent, openWorld bool }

// define makes a tool from the files that bear its short name and from what it
// does with its decoded arguments.
func define[A any](short string, h hints, do func(context.Context, *Server, session.Holder, A) (session.Snapshot, error)) *tool {
	s := loadSchema(short)
	return &tool{
		name:        "native_session_" + short,
		description: strings.TrimSpace(string(mustRead("text/" + short + ".md"))),
		schema:      s,
		hints:       h,
		call: func(ctx context.Context, server *Server, holder session.Holder, raw jsontext.Value) (session.Snapshot, error) {
			var args A
			if err := s.decode(raw, &args); err != nil {
				return session.Snapshot{}, err
			}
			return do(ctx, server, holder, args)
		},
	}
}

// allTools makes the six. Their names never change.
func allTools() []*tool {
	return []*tool{startTool(), continueTool(), recoverTool(), replyTool(), statusTool(), stopTool()}
}

// wire is the tool as tools/list shows it.
func (t *tool) wire() mcp.Tool {
	return mcp.Tool{
		Name:            t.name,
		Description:     t.description,
		RawInputSchema:  t.schema.raw,
		RawOutputSchema: answerSchema().raw,
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint:    &t.hints.readOnly,
			DestructiveHint: &t.hints.destructive,
			IdempotentHint:  &t.hints.idempotent,
			OpenWorldHint:   &t.hints.openWorld,
		},
	}
}
