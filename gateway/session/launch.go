package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/runner"
	"deckhand/gateway/turn"
)

// launch starts the shim of a recorded run, in the background of the call
// that asked for it. A run that cannot be started is failed, with the reason.
func (e *Engine) launch(s ledger.SessionRecord, r ledger.RunRecord) {
	e.work.Go(func() {
		handle, err := e.spawn(s, r)
		if err == nil {
			e.add(r.ID, s.ID, handle)
			return
		}
		if e.life.Err() != nil {
			// The next gateway finds a run that never began, and begins it.
			return
		}
		code, message := turn.LaunchFailed, "Claude Code could not be started"
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok {
			code, message = refusal.Code, cmp.Or(refusal.Detail, message)
		}
		e.cfg.Log.Error("launch run", "session", s.ID, "run", r.ID, "err", err)
		end := ledger.End{Verb: turn.Fail, Code: code, LaunchMessage: message}
		if _, err := e.ledger.EndRun(r.ID, end); err != nil {
			e.cfg.Log.Error("close run", "run", r.ID, "err", err)
		}
	})
}

func (e *Engine) spawn(s ledger.SessionRecord, r ledger.RunRecord) (*runner.Handle, error) {
	claude, err := e.cfg.FindClaude(e.life)
	if err != nil {
		return nil, err
	}
	if err := e.openWorkspace(e.life, s); err != nil {
		return nil, err
	}
	prompt, err := e.ledger.Text(r.Prompt)
	if err != nil {
		return nil, err
	}
	spec := runner.Spec{
		Run: r.ID, Session: s.ID, Token: e.secret.RunToken(r.ID), Claude: claude, ClaudeSession: s.ClaudeSession,
		Prompt: prompt, LeaseExpiresAt: s.Lease.ExpiresAt,
	}
	for _, tool := range e.cfg.Executor.Tools(s.Profile, s.Subagent) {
		if tool.Available {
			spec.Tools = append(spec.Tools, runner.Tool{
				Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, ReadOnly: tool.ReadOnly})
		}
	}
	e.folders.RLock()
	handle, err := e.cfg.Runner.Start(e.life, spec)
	e.folders.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("start shim: %w", err)
	}
	return handle, nil
}

// settleAll is the pass over every run that the last gateway left open: one
// whose shim is alive goes on, one that never began is begun, any other is
// closed with what is known of it. Run directories of no open run go.
func (e *Engine) settleAll(ctx context.Context) error {
	if _, err := e.ledger.ExpireDue(); err != nil {
		return err
	}
	if _, err := e.ledger.Sweep(); err != nil {
		return err
	}
	if err := e.resolveUndos(); err != nil {
		return err
	}
	runs, err := e.ledger.OpenRuns()
	if err != nil {
		return err
	}
	open := map[turn.RunID]bool{}
	for _, r := range runs {
		open[r.ID] = true
		if err := e.settleOpen(r); err != nil {
			return fmt.Errorf("settle run %s: %w", r.ID, err)
		}
	}
	left, err := e.cfg.Runner.Runs()
	if err != nil {
		return err
	}
	for _, id := range left {
		if open[id] {
			continue
		}
		// A late shim of a settled run ends when it says hello, and its
		// directory goes at the next start.
		if alive, err := e.cfg.Runner.Alive(id); err != nil || alive {
			continue
		}
		if err := e.cfg.Runner.Remove(id); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (e *Engine) settleOpen(r ledger.RunRecord) error {
	if err := e.ledger.Interrupt(r.ID); err != nil {
		return err
	}
	if err := e.resolve(r.ID, func(turn.ActionID) bool { return false }); err != nil {
		return err
	}
	alive, err := e.cfg.Runner.Alive(r.ID)
	if err != nil {
		return err
	}
	if alive {
		e.add(r.ID, r.Session, nil)
		return nil
	}
	_, exited, err := e.cfg.Runner.Exit(r.ID)
	if err != nil {
		return err
	}
	_, s, err := e.ledger.Run(r.ID)
	if err != nil {
		return err
	}
	if !exited && s.Status == turn.Starting {
		// Killed between recording the run and starting it: nothing of it has
		// happened, so it can begin now.
		if err := e.cfg.Runner.Remove(r.ID); err != nil {
			return err
		}
		e.launch(s, r)
		return nil
	}
	return e.settleRun(r.ID)
}

// isAttached reports whether the run's shim is connected.
func (e *Engine) isAttached(run turn.RunID) bool {
	v := e.liveOf(run)
	return v != nil && v.attached()
}

// producedBy returns how many bytes an action under way has produced so far,
// and how many lines if it is a command.
func (e *Engine) producedBy(run turn.RunID, id turn.ActionID) (bytes, lines int64) {
	v := e.liveOf(run)
	if v == nil {
		return 0, 0
	}
	f := v.flight(id)
	if f == nil {
		return 0, 0
	}
	return f.bytes.Load(), f.lines.Load()
}

// toolsOf returns the tools that a session's holder can call now.
func toolsOf(x *executor.Executor) func(ledger.SessionRecord) []Tool {
	return func(s ledger.SessionRecord) []Tool {
		var tools []Tool
		for _, t := range x.Tools(s.Profile, s.Subagent) {
			if t.Available {
				tools = append(tools, Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
			}
		}
		return tools
	}
}
