package session

import (
	"cmp"
	"time"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// What every answer says of where thinking happens and what can be reached.
const (
	route    = "chatgpt-main"
	fallback = "none"
	// networkBoundary: Claude Code reaches one loopback port of its own,
	// commands reach nothing.
	networkBoundary = "loopback_only"
)

// maxResultText bounds the text of last_result, which the holder wrote itself.
const maxResultText = 16 << 10

// snapshot builds the whole-state answer from one moment of the ledger. The
// lease is shown only to its holder, who passes it.
func (r *Reader) snapshot(v ledger.View, lease turn.LeaseID) (Snapshot, error) {
	rec := v.Session
	s := Snapshot{
		SessionID: rec.ID, ClaudeSessionID: &rec.ClaudeSession, Label: orNull(rec.Label),
		Status: rec.Status, Revision: rec.Revision,
		Route: route, Fallback: fallback, NetworkBoundary: networkBoundary,
		Profile: rec.Profile, SubagentPolicy: rec.Subagent,
		WorkingDirectory: rec.WorkingDirectory, SourceDirectory: rec.SourceDirectory(),
		Workspace: Workspace{Kind: cmp.Or(rec.Workspace.Kind, "none"), Root: rec.Workspace.Root, Branch: rec.Workspace.Branch,
			BaseCommit: rec.Workspace.BaseCommit, Retained: rec.Workspace.Kind == kindWorktree && rec.Workspace.Retired.IsZero()},
		RecoveryRequired: rec.Status == turn.RecoveryRequired,
		Skills:           []SkillMark{}, DeepSeekSessions: []DeepSeekState{},
		Next: next(rec, lease != "" && lease == rec.Lease.ID),
	}
	if lease == rec.Lease.ID {
		s.LeaseID, s.LeaseExpiresAt = &rec.Lease.ID, &rec.Lease.ExpiresAt
	}
	if rec.LaunchError != nil {
		s.LaunchError = &LaunchError{Code: rec.LaunchError.Code, Message: rec.LaunchError.Message}
	}
	if rec.Approval != nil {
		s.Approval = &Approval{State: string(rec.Approval.State), ExpiresAt: rec.Approval.ExpiresAt, Generation: rec.Approval.Generation}
	}
	if rec.Stop != nil {
		s.StopRequest = &StopMark{RequestID: rec.Stop.RequestID, Reason: rec.Stop.Reason, By: string(rec.Stop.By), At: rec.Stop.At}
	}
	if rec.Terminal != nil {
		s.Terminal = &Terminal{Outcome: string(rec.Terminal.Outcome), Code: orNull(rec.Terminal.Code), At: rec.Terminal.At}
	}
	if v.Run.ID != "" && v.Run.Open() {
		s.CurrentRun = r.currentRun(v)
		s.RuntimeAttached = r.attached != nil && r.attached(v.Run.ID)
	}
	if err := r.fillResult(&s, v); err != nil {
		return s, err
	}
	return s, r.fillPending(&s, v)
}

func (r *Reader) currentRun(v ledger.View) *Run {
	run := &Run{
		RunID: v.Run.ID, Number: v.Run.Number, State: string(v.Session.Status), StartedAt: v.Run.Started,
		Turns: v.Run.Turns, Actions: v.Run.Actions, Running: []Running{},
	}
	for _, a := range v.Open {
		now := Running{ActionID: a.ID, Name: a.Name, Seconds: max(0, int64(time.Since(a.BegunAt).Seconds()))}
		if r.produced != nil {
			now.Bytes, _ = r.produced(v.Run.ID, a.ID)
		}
		run.Running = append(run.Running, now)
	}
	return run
}

func (r *Reader) fillResult(s *Snapshot, v ledger.View) error {
	last := v.Session.LastResult
	if last == nil {
		return nil
	}
	text, err := r.ledger.Text(last.Text)
	if err != nil {
		return err
	}
	text, _ = shorten(text, maxResultText, "of this text")
	encoded, err := r.ledger.Text(last.Changes)
	if err != nil {
		return err
	}
	changes, err := decodeChanges(encoded)
	s.LastResult = &LastResult{RunID: last.Run, Outcome: string(last.Outcome), Text: text, FinishedAt: last.FinishedAt, Changes: changes}
	return err
}

func (r *Reader) fillPending(s *Snapshot, v ledger.View) error {
	if v.Pending == nil {
		return nil
	}
	results, err := r.results(v.Results, r.limits.TurnBudget)
	if err != nil {
		return err
	}
	s.PendingTurn = &PendingTurn{
		TurnID: v.Pending.ID, Sequence: v.Pending.Sequence, OpenedAt: v.Pending.OpenedAt, Results: results, Notices: v.Pending.Notices,
	}
	if !v.Session.Brief {
		return nil
	}
	prompt, err := r.ledger.Text(v.Run.Prompt)
	if err != nil {
		return err
	}
	s.PendingTurn.Prompt = &prompt
	if r.tools != nil {
		s.PendingTurn.Tools = r.tools(v.Session)
	}
	return nil
}

// results shows the receipts of actions with their texts, which share budget
// bytes fairly.
func (r *Reader) results(actions []ledger.ActionRecord, budget int) ([]Result, error) {
	texts := make([]string, len(actions))
	sizes := make([]int, len(actions))
	for i, a := range actions {
		var err error
		if texts[i], err = r.ledger.Text(a.Text); err != nil {
			return nil, err
		}
		sizes[i] = turn.EncodedSize(texts[i])
	}
	results := make([]Result, 0, len(actions))
	for i, share := range shares(sizes, min(budget, len(actions)*turn.MaxReceiptText)) {
		a := actions[i]
		fit := shorten
		if a.Name == executor.RunCommandTool {
			fit = shortenMiddle
		}
		text, cut := fit(texts[i], share, "of this result; a reply with this call alone, or a narrower call, shows more")
		results = append(results, Result{
			ToolCallID: a.ToolUse, ActionID: a.ID, Name: a.Name, Outcome: a.Receipt.Outcome,
			Text: text, Bytes: a.Receipt.Bytes, Truncated: a.Receipt.Truncated || cut, SHA256: a.Receipt.SHA256,
			Receipt: markOf(*a.Receipt),
		})
	}
	return results, nil
}

func markOf(r turn.Receipt) ReceiptMark {
	m := ReceiptMark{ReceiptID: r.ID, Code: orNull(r.Code), FinishedAt: r.FinishedAt, Attempts: r.Attempts, Write: r.Write}
	if !r.StartedAt.IsZero() {
		m.StartedAt = &r.StartedAt
	}
	return m
}

// Bounds of the history that a recover hands to a new conversation.
const (
	historyTurns  = 40
	historyBudget = 32 << 10
)

// history returns the newest turns of the session, as far as they fit. The
// pending turn is not among them: it stands in the answer itself.
func (r *Reader) history(id turn.SessionID) ([]HistoryTurn, bool, error) {
	v, err := r.ledger.View(id)
	if err != nil {
		return nil, false, err
	}
	past, truncated, err := r.ledger.History(id, historyTurns)
	if err != nil {
		return nil, false, err
	}
	share := historyBudget / max(1, len(past))
	var history []HistoryTurn
	for _, p := range past {
		if p.Turn.ID == v.Session.Pending {
			continue
		}
		h, cut, err := r.historyTurn(p, share)
		if err != nil {
			return nil, false, err
		}
		truncated = truncated || cut
		history = append(history, h)
	}
	return history, truncated, nil
}

// historyTurn shows one past turn in about share bytes: the prompt with the
// first of its run, the reply if there was one, and the receipts of its calls.
func (r *Reader) historyTurn(p ledger.PastTurn, share int) (HistoryTurn, bool, error) {
	h := HistoryTurn{RunID: p.Run.ID, Sequence: p.Turn.Sequence}
	var truncated, cut bool
	if p.Turn.Sequence == 1 {
		prompt, err := r.ledger.Text(p.Run.Prompt)
		if err != nil {
			return h, false, err
		}
		h.Prompt, cut = shorten(prompt, share, "of the prompt")
		truncated = truncated || cut
	}
	if p.Turn.Reply != nil {
		text, err := r.ledger.Text(p.Turn.Reply.Text)
		if err != nil {
			return h, false, err
		}
		h.Text, cut = shorten(text, share/2, "of this text")
		truncated = truncated || cut
	}
	var finished []ledger.ActionRecord
	for _, a := range p.Actions {
		if a.Receipt != nil {
			finished = append(finished, a)
		}
	}
	results, err := r.results(finished, share/2)
	h.Results = results
	for _, result := range results {
		truncated = truncated || result.Truncated
	}
	return h, truncated, err
}

// next names the calls that can follow, in one neutral sentence.
func next(s ledger.SessionRecord, holds bool) string {
	if !holds {
		return "The lease of this session belongs to another conversation; native_session_recover with the recovery token rotates it."
	}
	switch s.Status {
	case turn.AwaitingApproval:
		return "A person is asked to allow this session; native_session_status with wait_seconds shows the answer."
	case turn.Starting, turn.Running, turn.Executing:
		return "Claude Code is working; native_session_status with wait_seconds returns at the next change."
	case turn.WaitingForGPT:
		return "pending_turn waits for one native_session_reply_and_wait; a reply with text and no tool_calls ends the run."
	case turn.Idle, turn.Failed:
		if s.Retired() != nil {
			return "The worktree of this session was removed; native_session_start begins another session and native_session_stop ends this one."
		}
		return "No run is active; native_session_continue starts another and native_session_stop ends the session."
	case turn.Stopping:
		return "The session is being stopped; native_session_status shows when it has stopped."
	case turn.Stopped:
		return "The session is stopped; native_session_recover with the recovery token makes it idle again."
	case turn.LeaseExpired:
		return "The lease has expired and the run was ended; native_session_recover with the recovery token rotates the lease."
	case turn.RecoveryRequired:
		return "The run was lost; native_session_recover with the recovery token makes the session idle, with its history."
	}
	return ""
}

// orNull is null for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
