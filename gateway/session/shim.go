package session

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deckhand/gateway/ledger"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// executingLease is how far ahead of now the end of a run is put while an
// action runs: a lease cannot end before the action does. It is renewed with
// each watch, so it has only to be longer than a few of these.
const executingLease = 10 * time.Minute

var _ link.Backend = (*Engine)(nil)

// errSettled tells a shim that its run has ended here, and that it is to end.
var errSettled = &turn.Refusal{Code: link.RunSettled}

// Authenticate checks a shim's token. A shim of a settled run is let in too:
// it has to be told to end.
func (e *Engine) Authenticate(run turn.RunID, token string) error {
	if !e.secret.IsRunToken(run, token) {
		return turn.Refuse(link.Unauthorized, "")
	}
	return nil
}

// Hello takes note that the shim is there.
func (e *Engine) Hello(_ context.Context, h link.Hello) (link.Directive, error) {
	if _, err := e.ledger.Attach(h.Run); err != nil {
		return link.Directive{}, shimError(err)
	}
	return e.directive(h.Run)
}

// Watch answers when the directive differs from the one that the shim has.
// While it is open the run counts as attached; when it breaks, the run's lock
// tells whether the shim is gone.
func (e *Engine) Watch(ctx context.Context, w link.Watch) (link.Directive, error) {
	v, err := e.liveFor(w.Run)
	if err != nil {
		return link.Directive{}, err
	}
	v.watchers.Add(1)
	defer func() {
		v.watchers.Add(-1)
		// An error says that the run or the engine has ended: nothing to look at.
		_ = v.do(e.life, v.lookNow)
	}()
	for {
		changed := e.hub.changes(v.session)
		d, err := e.directive(w.Run)
		if err != nil {
			return d, err
		}
		if d.End != w.Seen.End || d.LeaseExpiresAt.Sub(w.Seen.LeaseExpiresAt).Abs() > time.Second {
			return d, nil
		}
		if err := pause(ctx, changed, e.life); err != nil {
			return d, err
		}
	}
}

// liveFor returns the goroutine of a run. Only the ledger says that a run is
// settled: one that is open and has no goroutine is being launched, or the
// engine is closing, and its shim is to ask again.
func (e *Engine) liveFor(run turn.RunID) (*live, error) {
	if v := e.liveOf(run); v != nil {
		return v, nil
	}
	r, _, err := e.ledger.Run(run)
	if err != nil {
		return nil, shimError(err)
	}
	if !r.Open() {
		return nil, errSettled
	}
	return nil, errClosing
}

// directive says how long a run may live, as the ledger has it now.
func (e *Engine) directive(run turn.RunID) (link.Directive, error) {
	r, s, err := e.ledger.Run(run)
	if err != nil {
		return link.Directive{}, shimError(err)
	}
	if !r.Open() {
		return link.Directive{}, errSettled
	}
	d := link.Directive{Protocol: link.Version, LeaseExpiresAt: s.Lease.ExpiresAt}
	switch s.Status {
	case turn.Stopping:
		d.End, d.EndReason = true, "stopped"
	case turn.LeaseExpired:
		d.End, d.EndReason = true, string(turn.LeaseExpiredCode)
	case turn.Executing:
		if ahead := time.Now().UTC().Add(executingLease); ahead.After(d.LeaseExpiresAt) {
			d.LeaseExpiresAt = ahead
		}
	}
	return d, nil
}

// Offer turns a model request into a turn and answers with its reply.
func (e *Engine) Offer(ctx context.Context, o link.Offer) (link.Release, error) {
	v, err := e.liveFor(o.Run)
	if err != nil {
		return link.Release{}, err
	}
	if o.Tail == link.TailOther {
		e.cfg.Log.Warn("a model request that is no turn", "run", o.Run, "summary", o.Summary)
		return link.Release{}, &turn.Refusal{Code: turn.UnexpectedModelRequest}
	}
	var opened ledger.TurnRecord
	for {
		changed := e.hub.changes(v.session)
		var err error
		if doErr := v.do(ctx, func() {
			opened, err = e.ledger.Offer(o.Run, o.Digest, ledger.Tail{Prompt: o.Tail == link.TailPrompt, ToolUses: o.ToolUseIDs}, v.flying)
		}); doErr != nil {
			return link.Release{}, shimError(doErr)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, ledger.ErrActionOpen) {
			return link.Release{}, shimError(err)
		}
		if err := pause(ctx, changed, e.life); err != nil {
			return link.Release{}, err
		}
	}
	for {
		changed := e.hub.changes(v.session)
		answered, err := e.ledger.Turn(opened.ID)
		if err != nil {
			return link.Release{}, err
		}
		if answered.Turn.Reply != nil {
			return e.release(answered)
		}
		d, err := e.directive(o.Run)
		if err != nil {
			return link.Release{}, err
		}
		if d.End {
			return link.Release{}, errSettled
		}
		if err := pause(ctx, changed, e.life); err != nil {
			return link.Release{}, err
		}
	}
}

func (e *Engine) release(a ledger.Answered) (link.Release, error) {
	text, err := e.ledger.Text(a.Turn.Reply.Text)
	if err != nil {
		return link.Release{}, err
	}
	r := link.Release{Turn: a.Turn.ID, Text: text, Calls: []link.ToolUse{}}
	for _, action := range a.Actions {
		arguments, err := e.ledger.Text(action.Arguments)
		if err != nil {
			return r, err
		}
		r.Calls = append(r.Calls, link.ToolUse{ID: action.ToolUse, Name: action.Name, Arguments: []byte(arguments)})
	}
	return r, nil
}

// Call answers one authorised call with its receipt, running it first if it
// has none.
func (e *Engine) Call(ctx context.Context, c link.Call) (link.CallResult, error) {
	v, err := e.liveFor(c.Run)
	if err != nil {
		return link.CallResult{}, err
	}
	arguments := jsontext.Value(c.Arguments).Clone()
	if err := arguments.Canonicalize(); err != nil {
		return link.CallResult{}, &turn.Refusal{Code: turn.CallMismatch, Cause: err}
	}
	for {
		var a ledger.ActionRecord
		var f *flight
		var err error
		if doErr := v.do(ctx, func() { a, f, err = v.begin(c.ToolUseID, c.Name, string(arguments)) }); doErr != nil {
			return link.CallResult{}, shimError(doErr)
		}
		if err != nil {
			return link.CallResult{}, shimError(err)
		}
		if f == nil {
			return e.shownToClaude(a)
		}
		if err := pause(ctx, f.landed, e.life); err != nil {
			return link.CallResult{}, err
		}
		if f.err != nil {
			// Not at once again: the shim asks after a while.
			return link.CallResult{}, shimError(f.err)
		}
	}
}

// shownToClaude is what Claude Code gets of a receipt: it is not the brain, so
// a long body is only a head with what identifies the rest.
func (e *Engine) shownToClaude(a ledger.ActionRecord) (link.CallResult, error) {
	text, err := e.ledger.Text(a.Text)
	if err != nil {
		return link.CallResult{}, err
	}
	return link.CallResult{Text: headFor(text, *a.Receipt), IsError: a.Receipt.Outcome != turn.OK}, nil
}

// Exit hears how a run ended. The run is settled when its shim is gone, by the
// record that the shim leaves, so this only makes the loop look.
func (e *Engine) Exit(ctx context.Context, x link.Exit) error {
	v := e.liveOf(x.Run)
	if v == nil {
		return nil
	}
	return shimError(v.do(ctx, v.lookNow))
}

// pause waits for a change, for the caller to go away, or for the engine to
// close, which the last two report by their cause.
func pause(ctx context.Context, changed <-chan struct{}, life context.Context) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-life.Done():
		return context.Cause(life)
	}
}

// shimError translates the ledger's word for a settled run.
func shimError(err error) error {
	if errors.Is(err, ledger.ErrRunSettled) {
		return errSettled
	}
	return err
}
