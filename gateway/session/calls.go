package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"deckhand/gateway/crash"
	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// stopWait is how long Stop waits for the end before it answers "stopping".
const stopWait = 5 * time.Second

// Start makes a session and its first run, and waits for its first turn.
func (e *Engine) Start(ctx context.Context, r StartRequest) (Snapshot, error) {
	in := r.input()
	if effect, ok, err := e.ledger.Replayed(in, ""); err != nil || ok {
		return e.answer(ctx, effect, err, tokenShown, r.Wait)
	}
	if err := checkPrompt(r.Prompt); err != nil {
		return Snapshot{}, err
	}
	if err := checkAbilities(r); err != nil {
		return Snapshot{}, err
	}
	dir, err := e.cfg.CheckDirectory(r.WorkingDirectory)
	if err != nil {
		return Snapshot{}, err
	}
	id := turn.NewSessionID()
	workspace, err := e.workspaceFor(ctx, id, r.Profile, dir)
	if err != nil {
		return Snapshot{}, err
	}
	askFor, err := e.askFor(r.Profile, dir)
	if err != nil {
		return Snapshot{}, err
	}
	if _, err := e.cfg.FindClaude(ctx); err != nil {
		return Snapshot{}, err
	}
	effect, err := e.ledger.Start(ledger.StartInput{
		Input: in, ID: id, ClaudeSession: uuid.NewString(), Label: r.Label, Profile: r.Profile, Subagent: r.SubagentPolicy,
		WorkingDirectory: cmp.Or(workspace.Root, dir), Workspace: workspace, Prompt: r.Prompt, AskFor: askFor, LeaseFor: e.cfg.Limits.LeaseFor, MaxLive: e.cfg.Limits.MaxLive,
	})
	if err == nil && !effect.Replay && effect.Run.ID != "" {
		e.launch(effect.Session, effect.Run)
	}
	return e.answer(ctx, effect, err, tokenShown, r.Wait)
}

// checkAbilities refuses what this build does not do, before anything is made.
func checkAbilities(r StartRequest) error {
	if r.SubagentPolicy == turn.DeepSeekExplicit {
		if r.Profile != turn.WorktreeWrite {
			return turn.Refuse(turn.ProfileViolation, "subagent_policy deepseek_explicit needs capability_profile worktree_write")
		}
		return turn.Refuse(turn.SubagentUnavailable, "subagents are not available in this version; subagent_policy none is")
	}
	if len(r.Skills) > 0 {
		return turn.Refuse(turn.SkillNotAllowed, "no skill is on the allow-list")
	}
	return nil
}

// Continue makes a new run of a session and waits for its first turn.
func (e *Engine) Continue(ctx context.Context, r ContinueRequest) (Snapshot, error) {
	in := r.input()
	if effect, ok, err := e.ledger.Replayed(in, r.Lease); err != nil || ok {
		return e.answer(ctx, effect, err, tokenHidden, r.Wait)
	}
	if err := checkPrompt(r.Prompt); err != nil {
		return Snapshot{}, err
	}
	if _, err := e.cfg.FindClaude(ctx); err != nil {
		return Snapshot{}, err
	}
	effect, err := e.ledger.Continue(ledger.ContinueInput{
		Input: in, Session: r.Session, Lease: r.Lease, Prompt: r.Prompt,
		LeaseFor: e.cfg.Limits.LeaseFor, MaxLive: e.cfg.Limits.MaxLive,
	})
	if err == nil && !effect.Replay {
		e.launch(effect.Session, effect.Run)
	}
	return e.answer(ctx, effect, err, tokenHidden, r.Wait)
}

// Recover exchanges a recovery token for a new lease. The answer also holds
// the recent history, so that a new conversation can take over.
func (e *Engine) Recover(ctx context.Context, r RecoverRequest) (Snapshot, error) {
	if err := e.verifyForRecovery(ctx, r); err != nil {
		return Snapshot{}, err
	}
	in := ledger.RecoverInput{
		Input: r.input(), Session: r.Session, TokenOf: e.secret.tokenOf(r.Session, r.Token), LeaseFor: e.cfg.Limits.LeaseFor,
	}
	effect, err := e.ledger.Recover(in)
	if errors.Is(err, ledger.ErrRunOpen) {
		// The lease has passed and the run is being ended; only then is the
		// session idle.
		if err := e.runEnd(ctx, r.Session); err != nil {
			return Snapshot{}, err
		}
		effect, err = e.ledger.Recover(in)
	}
	if errors.Is(err, ledger.ErrRunOpen) {
		return Snapshot{}, turn.Refuse(turn.RunActive, "the run is still being ended; the same call works when it has")
	}
	s, err := e.answer(ctx, effect, err, tokenShown, r.Wait)
	if err != nil {
		return s, err
	}
	s.History, s.HistoryTruncated, err = e.history(r.Session)
	return s, err
}

// verifyForRecovery makes sure that a session which writes still has the root
// that it was made with. A caller without the token learns nothing of it.
func (e *Engine) verifyForRecovery(ctx context.Context, r RecoverRequest) error {
	v, err := e.ledger.View(r.Session)
	if err != nil {
		return err
	}
	if !v.Session.Lease.AcceptsTokenOf(e.secret.tokenOf(r.Session, r.Token)) {
		return nil // the ledger refuses
	}
	broken := e.verifyWorkspace(ctx, v.Session)
	if broken == nil {
		return nil
	}
	// What was found may be a worktree that is being removed at this moment.
	if v, err = e.ledger.View(r.Session); err != nil {
		return err
	}
	return cmp.Or(v.Session.Retired(), broken)
}

// runEnd ends the leases that have passed and waits until the session's run,
// if it still has one, has ended, but not longer than stopWait.
func (e *Engine) runEnd(ctx context.Context, id turn.SessionID) error {
	if _, err := e.ledger.ExpireDue(); err != nil {
		return err
	}
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	for {
		changed := e.hub.changes(id)
		v, err := e.ledger.View(id)
		if err != nil {
			return err
		}
		if v.Run.ID == "" || !v.Run.Open() {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.life.Done():
			return context.Cause(e.life)
		}
	}
}

// Reply answers the pending turn and waits for the next one.
func (e *Engine) Reply(ctx context.Context, r ReplyRequest) (Snapshot, error) {
	in, size, err := r.input()
	if err != nil {
		return Snapshot{}, err
	}
	if effect, ok, err := e.ledger.Replayed(in, r.Lease); err != nil || ok {
		return e.answer(ctx, effect, err, tokenHidden, r.Wait)
	}
	// A caller without the lease learns nothing about the session's rules.
	v, err := e.ledger.View(r.Session)
	if err != nil {
		return Snapshot{}, err
	}
	if v.Session.Lease.ID != r.Lease {
		return Snapshot{}, &turn.Refusal{Code: turn.LeaseMismatch}
	}
	calls, err := e.checkReply(r, size, v.Session)
	if err != nil {
		return Snapshot{}, err
	}
	effect, err := e.ledger.Reply(ledger.ReplyInput{
		Input: in, Session: r.Session, Lease: r.Lease, Turn: r.Turn, Text: r.Text, Calls: calls, LeaseFor: e.cfg.Limits.LeaseFor,
	})
	s, err := e.answer(ctx, effect, err, tokenHidden, r.Wait)
	crash.At(crash.BeforeChatAnswer)
	return s, err
}

// checkReply checks a reply whole. The refusal names every call that is off
// and carries the code of the first.
func (e *Engine) checkReply(r ReplyRequest, size int, s ledger.SessionRecord) ([]turn.ToolCall, error) {
	switch {
	case size > turn.MaxReply:
		return nil, turn.Refuse(turn.TooLarge, "the reply has %d bytes, at most %d are taken for text and all calls together", size, turn.MaxReply)
	case len(r.Calls) > turn.MaxCallsPerReply:
		return nil, turn.Refuse(turn.ReplyInvalid, "the reply has %d calls, at most %d are taken", len(r.Calls), turn.MaxCallsPerReply)
	case !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, 0):
		return nil, turn.Refuse(turn.ReplyInvalid, "text is not plain UTF-8 text")
	case len(r.Calls) == 0 && !visible(r.Text):
		return nil, turn.Refuse(turn.ReplyInvalid, "the reply has neither a call nor a visible character of text")
	}
	var refused []string
	var code turn.Code
	calls := make([]turn.ToolCall, 0, len(r.Calls))
	for i, c := range r.Calls {
		call, err := e.cfg.Executor.Check(scopeOf(s), c.Name, c.Arguments)
		if err == nil {
			calls = append(calls, call)
			continue
		}
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok {
			return nil, fmt.Errorf("check call %d: %w", i, err)
		}
		if code == "" {
			code = refusal.Code
		}
		refused = append(refused, fmt.Sprintf("tool_calls[%d] %q: %s: %s", i, c.Name, refusal.Code, refusal.Detail))
	}
	if len(refused) > 0 {
		return nil, turn.Refuse(code, "%s. No call of this reply was run", strings.Join(refused, "; "))
	}
	return calls, nil
}

func scopeOf(s ledger.SessionRecord) executor.Scope {
	return executor.Scope{Session: s.ID, Profile: s.Profile, Subagent: s.Subagent, WorkingDirectory: s.WorkingDirectory, Root: s.Workspace.Root, Source: s.Workspace.Source}
}

// Status answers the present state, waiting for the next change first if the
// holder cannot act.
func (e *Engine) Status(ctx context.Context, r StatusRequest) (Snapshot, error) {
	v, err := e.ledger.View(r.Session)
	if err != nil {
		return Snapshot{}, err
	}
	if v.Session.Lease.ID != r.Lease {
		return Snapshot{}, &turn.Refusal{Code: turn.LeaseMismatch}
	}
	if !v.Session.Lease.Used {
		if err := e.ledger.UseLease(r.Session, r.Lease); err != nil {
			return Snapshot{}, err
		}
	}
	if _, err := e.ledger.ExpireDue(); err != nil {
		return Snapshot{}, err
	}
	if v, err = e.ledger.View(r.Session); err != nil {
		return Snapshot{}, err
	}
	return e.await(ctx, r.Session, r.Lease, r.Wait, func(s ledger.SessionRecord) bool {
		return s.Status.HolderCanAct() || s.Revision > v.Session.Revision
	})
}

// Stop asks for the end of a session and waits a little for it.
func (e *Engine) Stop(ctx context.Context, r StopRequest) (Snapshot, error) {
	effect, err := e.ledger.Stop(ledger.StopInput{
		Input: r.input(), Session: r.Session, Lease: r.Lease, Reason: r.Reason, By: ledger.ByChatGPT,
	})
	return e.answer(ctx, effect, err, tokenHidden, stopWait)
}

// StopByUser is Stop by the person at the machine, who needs no lease.
func (e *Engine) StopByUser(ctx context.Context, id turn.SessionID, reason string) (Snapshot, error) {
	effect, err := e.ledger.Stop(ledger.StopInput{
		Input: ledger.Input{Key: "user"}, Session: id, Reason: reason, By: ledger.ByUser,
	})
	if err != nil {
		return Snapshot{}, err
	}
	effect.Holds = false
	return e.answer(ctx, effect, nil, tokenHidden, stopWait)
}

// tokenRule says whether an answer may hold the recovery token.
type tokenRule bool

const (
	tokenShown  tokenRule = true
	tokenHidden tokenRule = false
)

// answer turns the effect of a call into its answer: it waits until the holder
// can act, and shows lease and token only to who holds them.
func (e *Engine) answer(ctx context.Context, effect ledger.Effect, err error, token tokenRule, wait time.Duration) (Snapshot, error) {
	if err != nil {
		return Snapshot{}, err
	}
	lease := effect.Session.Lease
	shown := lease.ID
	if !effect.Holds {
		shown = ""
	}
	s, err := e.await(ctx, effect.Session.ID, shown, wait, func(s ledger.SessionRecord) bool {
		return s.Status.HolderCanAct()
	})
	if err != nil {
		return s, err
	}
	s.Replay = effect.Replay
	if token == tokenShown && s.LeaseID != nil {
		s.RecoveryToken = e.secret.RecoveryToken(effect.Session.ID, lease.Epoch)
	}
	return s, nil
}

// await returns the state as soon as enough says so, or when the wait ends. A
// caller that goes away gets its own context's error; nothing is lost by it.
func (e *Engine) await(ctx context.Context, id turn.SessionID, lease turn.LeaseID, wait time.Duration, enough func(ledger.SessionRecord) bool) (Snapshot, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for done := wait <= 0; ; {
		changed := e.hub.changes(id)
		v, err := e.ledger.View(id)
		if err != nil {
			return Snapshot{}, err
		}
		if lease != "" && lease != v.Session.Lease.ID {
			// The lease was rotated while this call waited: what happens from
			// now on is the new holder's.
			return Snapshot{}, &turn.Refusal{Code: turn.LeaseMismatch}
		}
		if done || enough(v.Session) {
			return e.snapshot(v, lease)
		}
		select {
		case <-changed:
		case <-timer.C:
			done = true
		case <-ctx.Done():
			return Snapshot{}, context.Cause(ctx)
		case <-e.life.Done():
			done = true
		}
	}
}
