package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"deckhand/app/demo/chatgpt"
)

// crashBefore is the turn before whose reply the gateway is killed: the one that
// brings the result of the search.
const crashBefore = 3

// maxTurns ends a script that does not come to its end.
const maxTurns = 12

// startWithin is how long the answer to a start may take.
const startWithin = 60 * time.Second

// session plays one session in the working directory, exploring d.dir. Before
// the reply to turn crashBefore it calls interrupt, if there is one.
func (d *demo) session(ctx context.Context, working string, interrupt func(context.Context, *chatgpt.Session) error) error {
	d.tally.sessions++
	d.tell.heading(fmt.Sprintf("Session %d, read_only, working directory %s", d.tally.sessions, working))
	p := d.player(working)
	d.tell.say(user, "%s", p.question())
	d.tell.say(chatGPT, "%s: a read_only session in %s", chatgpt.ToolStart, working)
	// An interrupt waits for the answer: only a session that has a name can be
	// stopped in order.
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), startWithin)
	defer cancel()
	s, err := d.client.Start(starting, chatgpt.Start{
		Prompt: p.question(), WorkingDirectory: working, Profile: "read_only",
		Label: fmt.Sprintf("demo %d", d.tally.sessions),
	})
	if err != nil {
		return err
	}
	d.live = append(d.live, s)
	if err := check(s.Token != "", "the answer to start brings no recovery token"); err != nil {
		return err
	}
	var final string
	for final == "" {
		answer, err := s.Await(ctx)
		if err != nil {
			return err
		}
		if answer.Turn == nil {
			return unexpectedEnd(answer)
		}
		if answer.Turn.Sequence > maxTurns {
			return fmt.Errorf("the script has no answer after %s", count(maxTurns, "turn"))
		}
		if err := d.turn(answer.Turn); err != nil {
			return err
		}
		if interrupt != nil && answer.Turn.Sequence == crashBefore {
			if err := interrupt(ctx, s); err != nil {
				return err
			}
			answer = s.Last
		}
		m, err := p.next(answer.Turn)
		if err != nil {
			return err
		}
		d.speak(m)
		if len(m.reply.Calls) == 0 {
			final = m.reply.Text
		}
		if _, err := s.Reply(ctx, m.reply); err != nil {
			return err
		}
	}
	return d.finish(ctx, s, final)
}

// player is the script for what is explored.
func (d *demo) player(working string) player {
	// From the root the searches are narrowed to the directory, by its absolute
	// path; inside it the session's own directory is the default.
	where := ""
	if working != d.dir {
		where = d.dir
	}
	if d.opt.Dir == "" {
		return &detective{where: where, root: d.dir}
	}
	return &explorer{where: where, root: d.dir, name: filepath.Base(d.dir)}
}

// turn prints what a turn brings and checks its receipts.
func (d *demo) turn(turn *chatgpt.Turn) error {
	d.tally.turns++
	if turn.Prompt != nil {
		d.tell.say(claude, "asks: turn %d, the prompt and %s", turn.Sequence, count(len(turn.Tools), "tool"))
	} else {
		d.tell.say(claude, "asks: turn %d, %s", turn.Sequence, count(len(turn.Results), "result"))
	}
	for _, result := range turn.Results {
		if err := d.receipt(result); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) receipt(result chatgpt.Result) error {
	d.tally.actions++
	d.tally.bytes += result.Bytes
	took := result.Receipt.Finished.Sub(result.Receipt.Started)
	d.tell.say(receipt, "%s %s, %s, sha256 %.12s…, %.1f ms", result.Name, result.Outcome,
		count(int(result.Bytes), "byte"), result.SHA256, float64(took.Microseconds())/1000)
	lines := showLines
	if d.shown[result.SHA256] {
		lines = showAgain
	}
	d.shown[result.SHA256] = true
	d.tell.show(result.Text, lines)
	if err := check(result.Outcome == "ok", "%s ended as %s (%s): %s",
		result.Name, result.Outcome, result.Receipt.Code, result.Text); err != nil {
		return err
	}
	if err := check(result.Receipt.Attempts == 1, "%s ran %d times", result.Name, result.Receipt.Attempts); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(result.Text))
	if int64(len(result.Text)) == result.Bytes {
		return check(hex.EncodeToString(sum[:]) == result.SHA256, "the digest of the receipt of %s is not that of its text", result.Name)
	}
	return nil
}

// speak prints what ChatGPT does next.
func (d *demo) speak(m move) {
	if m.thought != "" {
		d.tell.say(chatGPT, "“%s”", m.thought)
	}
	for _, call := range m.reply.Calls {
		d.tell.say(chatGPT, "%s %s", call.Name, arguments(call))
	}
	if len(m.reply.Calls) == 0 {
		d.tell.say(chatGPT, "%s", m.reply.Text)
	}
}

// finish waits for the end of the run, checks its result and stops the session.
func (d *demo) finish(ctx context.Context, s *chatgpt.Session, final string) error {
	answer, err := s.Await(ctx)
	if err != nil {
		return err
	}
	if answer.Status != "idle" || answer.LastResult == nil {
		return unexpectedEnd(answer)
	}
	if err := check(answer.LastResult.Outcome == "completed" && answer.LastResult.Text == final,
		"the run's result is not the reply that ended it: %s, %q", answer.LastResult.Outcome, answer.LastResult.Text); err != nil {
		return err
	}
	d.tell.say(claude, "ends the run; the session is %s and remembers the answer", answer.Status)
	if err := d.stop(ctx, s); err != nil {
		return err
	}
	d.tell.say(gatewayS, "session stopped")
	return nil
}

func (d *demo) stop(ctx context.Context, s *chatgpt.Session) error {
	if _, err := s.Stop(ctx, "the demo is over"); err != nil {
		return err
	}
	answer, err := s.Await(ctx)
	if err != nil {
		return err
	}
	if err := check(answer.Status == "stopped", "the session is %s after its stop", answer.Status); err != nil {
		return err
	}
	for i, live := range d.live {
		if live == s {
			d.live = append(d.live[:i], d.live[i+1:]...)
			break
		}
	}
	return nil
}

// unexpectedEnd says why a session has no turn although the script waits for one.
func unexpectedEnd(answer *chatgpt.Answer) error {
	switch {
	case answer.LaunchError != nil:
		return fmt.Errorf("the session is %s: %s: %s", answer.Status, answer.LaunchError.Code, answer.LaunchError.Message)
	case answer.Terminal != nil:
		return fmt.Errorf("the session is %s: %s %s", answer.Status, answer.Terminal.Outcome, answer.Terminal.Code)
	case answer.LastResult != nil:
		return fmt.Errorf("the session is %s: its run %s: %s", answer.Status, answer.LastResult.Outcome, answer.LastResult.Text)
	}
	return errors.New("the session is " + answer.Status + " and no turn waits")
}
