package executor

import (
	"context"
	"time"

	"deckhand/gateway/command"
	"deckhand/gateway/turn"
)

type commandArguments struct {
	Argv           []string `json:"argv"`
	Cwd            *string  `json:"cwd"`
	TimeoutSeconds *int64   `json:"timeout_seconds"`
}

func (a commandArguments) check() error {
	if a.Cwd != nil {
		if err := checkPath("cwd", *a.Cwd); err != nil {
			return err
		}
	}
	return command.Check(a.Argv)
}

// runCommand runs a command in the session's directory: the write root, or the
// working directory of a session that does not write.
func (e *Executor) runCommand(ctx context.Context, scope Scope, doc document, progress func(bytes, lines int64)) turn.Result {
	a, err := decode[commandArguments](doc)
	if err != nil {
		return result(err)
	}
	if e.commands == nil {
		return turn.Failure(turn.ToolUnavailable, "Commands cannot be run here.")
	}
	c := command.Call{
		Session: scope.Session, Argv: a.Argv, Dir: scope.WorkingDirectory, Root: scope.WorkingDirectory,
		Timeout: command.DefaultTimeout, Edits: scope.Profile.Writes(), Progress: progress,
	}
	if scope.Profile.Writes() {
		c.Root, c.Source = scope.Root, scope.Source
	}
	if a.Cwd != nil {
		c.Dir = scope.absolute(*a.Cwd)
	}
	if a.TimeoutSeconds != nil {
		c.Timeout = time.Duration(*a.TimeoutSeconds) * time.Second
	}
	return e.commands.Run(ctx, c)
}
