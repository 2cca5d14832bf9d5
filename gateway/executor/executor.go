package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deckhand/gateway/command"
	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// Config is what an executor needs.
type Config struct {
	Protected *protected.Paths
	// SearchTime is after how long a search gives a partial answer; 0 means
	// DefaultSearchTime.
	SearchTime time.Duration
	// Commands runs commands; nil where nothing may be run, and RunCommand
	// answers tool_unavailable.
	Commands *command.Runner
}

// DefaultSearchTime is after how long a search gives a partial answer.
const DefaultSearchTime = 20 * time.Second

// Executor runs the tools. It is safe for concurrent use.
type Executor struct {
	protected  *protected.Paths
	commands   *command.Runner // or nil
	searchTime time.Duration
	// folderPart is folderPart but in tests.
	folderPart int
	// missTime is nearMissTime but in tests.
	missTime time.Duration
	schemas  map[string]*jsonschema.Schema
	// disk is realDisk but in tests.
	disk  disk
	locks pathLocks
}

// Scope is what a session fixed at its start.
type Scope struct {
	Session  turn.SessionID
	Profile  turn.Profile
	Subagent turn.SubagentPolicy
	// WorkingDirectory is absolute: what relative paths start from.
	WorkingDirectory string
	// Root is the real path of the write root, "" for a session that does not
	// write.
	Root string
	// Source is the real path of the checkout that a worktree was made of, else
	// "". Git needs it.
	Source string
}

// New returns an executor.
func New(cfg Config) (*Executor, error) {
	if cfg.Protected == nil {
		return nil, errors.New("make executor: no protected paths")
	}
	if cfg.SearchTime == 0 {
		cfg.SearchTime = DefaultSearchTime
	}
	schemas, err := compileSchemas()
	if err != nil {
		return nil, fmt.Errorf("make executor: %w", err)
	}
	return &Executor{protected: cfg.Protected, commands: cfg.Commands, searchTime: cfg.SearchTime, folderPart: folderPart, missTime: nearMissTime, schemas: schemas, disk: realDisk{}}, nil
}

// Run runs one authorised call to its end and says how it went. A read that
// its context ends has no answer; a write that has happened by then has one,
// and a command tells what it came to.
func (e *Executor) Run(ctx context.Context, scope Scope, call turn.ToolCall, sink Sink) turn.Result {
	result := e.run(ctx, scope, call, sink.filled())
	happened := Writes(call.Name) && (result.Write != nil || result.Outcome == turn.OutcomeInterrupted) || call.Name == RunCommandTool
	if ctx.Err() != nil && !happened {
		return turn.Result{Outcome: turn.OutcomeCancelled, Code: turn.CancelledCode, Text: call.Name + " was stopped before it had an answer."}
	}
	return result
}

func (e *Executor) run(ctx context.Context, scope Scope, call turn.ToolCall, sink Sink) turn.Result {
	// The arguments were checked before they were authorised; checking them
	// again costs little and lets nothing run that the session may not do. What
	// only makes no sense is found by the tool itself.
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	var doc document
	err := e.admit(scope, call.Name)
	if err == nil {
		doc, err = e.examine(call.Name, call.Arguments)
	}
	if err != nil {
		if r, ok := errors.AsType[*turn.Refusal](err); ok {
			return turn.Failure(r.Code, r.Detail)
		}
		return turn.Failure(turn.InternalError, "The call could not be checked.")
	}
	switch call.Name {
	case ReadTool:
		return e.read(ctx, scope, doc, sink.Progress)
	case FindFilesTool:
		return e.findFiles(ctx, scope, doc, sink.Progress)
	case SearchTextTool:
		return e.searchText(ctx, scope, doc, sink.Progress)
	case RunCommandTool:
		return e.runCommand(ctx, scope, doc, sink.Output)
	case EditTool:
		return e.edit(ctx, scope, doc, sink)
	case WriteTool:
		return e.writeFile(ctx, scope, doc, sink)
	case NotebookEditTool:
		return e.notebookEdit(ctx, scope, doc, sink)
	}
	return turn.Failure(turn.ToolUnavailable, call.Name+" cannot be run.")
}
