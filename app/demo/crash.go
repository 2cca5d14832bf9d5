package demo

import (
	"context"
	"fmt"
	"time"

	"deckhand/app/demo/chatgpt"
)

// crash kills the gateway while a turn waits for its reply, starts it again and
// takes the session up as a new conversation would: with the recovery token.
func (d *demo) crash(ctx context.Context, s *chatgpt.Session) error {
	before, lease := s.Last, s.Lease
	if err := d.gateway.Kill(); err != nil {
		return err
	}
	d.tally.kills++
	d.tell.say(demoS, "kill -9: the gateway is gone, in the middle of turn %d", before.Turn.Sequence)
	if _, err := s.Status(ctx, 0); err == nil {
		return fmt.Errorf("the gateway still answers although it was killed")
	}
	d.tell.say(claude, "waits on: its question is held by a process that needs no gateway")
	if err := d.gateway.Start(ctx); err != nil {
		return err
	}
	d.tell.say(gatewayS, "started again on %s", d.gateway.Address())
	d.tell.say(chatGPT, "%s with the recovery token", chatgpt.ToolRecover)
	if _, err := s.Recover(ctx); err != nil {
		return err
	}
	after, err := attached(ctx, s)
	if err != nil {
		return err
	}
	if after.Turn == nil {
		return unexpectedEnd(after)
	}
	for _, err := range []error{
		check(s.Lease != lease, "the lease is the same after a recover"),
		check(after.ClaudeSession != "" && after.ClaudeSession == before.ClaudeSession,
			"the Claude Code session was %s and is %s", before.ClaudeSession, after.ClaudeSession),
		check(after.Turn.ID == before.Turn.ID, "the turn that waits is another one after the recover"),
		check(after.Run != nil && before.Run != nil && after.Run.ID == before.Run.ID, "the run is another one after the recover"),
	} {
		if err != nil {
			return err
		}
	}
	d.tell.say(gatewayS, "a new lease; the same Claude Code session %.8s…, the same run, and turn %d still waits",
		after.ClaudeSession, after.Turn.Sequence)
	stale := d.client.Join(s.ID, lease, "")
	if _, err := stale.Status(ctx, 0); chatgpt.CodeOf(err) != "lease_mismatch" {
		return fmt.Errorf("the old lease should be refused with lease_mismatch, not: %v", err)
	}
	d.tell.say(gatewayS, "the old lease is refused: lease_mismatch")
	return nil
}

// attachWithin is how long the run's process may take to find the new gateway.
const attachWithin = 15 * time.Second

// attached asks until the run's process is connected to the new gateway.
func attached(ctx context.Context, s *chatgpt.Session) (*chatgpt.Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attachWithin,
		fmt.Errorf("the run did not find the new gateway within %s", attachWithin))
	defer cancel()
	for !s.Last.RuntimeAttached {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := s.Status(ctx, 0); err != nil {
			return nil, err
		}
	}
	return s.Last, nil
}
