package tests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/app/demo/process"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// run is a call of RunCommand.
func run(argv ...string) chatgpt.ToolCall {
	return fakechatgpt.Call("RunCommand", map[string]any{"argv": argv})
}

// cacheOf is the cache folder of a session's commands.
func cacheOf(g *rig.Gateway, s *fakechatgpt.Session) string {
	return filepath.Join(g.Home, ".cache", "deckhand", s.ID)
}

// lasting is a command that leaves a mark each time it begins and runs until
// somebody ends it, with a descendant that left its group.
type lasting struct {
	number string // stands in the argument lists of its processes alone
	call   chatgpt.ToolCall
}

func newLasting() lasting {
	number := fmt.Sprint(100_000_000 + rand.IntN(900_000_000))
	script := `trap "" TERM HUP; echo begun >> "$TMPDIR/marks"; (setsid sleep ` + number + ` &); seq 1 1000; sleep ` + number
	return lasting{number, run("sh", "-c", script)}
}

// printed is how many bytes it prints, in a thousand lines.
const printed = 3893

// running returns the processes of it that are there, the gateway's own aside,
// which have the number in no argument.
func (l lasting) running(t *testing.T) []process.Process {
	t.Helper()
	all, err := process.List()
	must(t, err)
	var found []process.Process
	for _, p := range all {
		if strings.Contains(p.Args, l.number) && !p.Ended {
			found = append(found, p)
		}
	}
	return found
}

// marks says how often it has begun.
func (l lasting) marks(g *rig.Gateway, s *fakechatgpt.Session) int {
	data, err := os.ReadFile(filepath.Join(cacheOf(g, s), "tmp", "marks"))
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// begin replies with it and returns when it has printed all that it prints.
func (l lasting) begin(t *testing.T, g *rig.Gateway, s *fakechatgpt.Session) session.Running {
	t.Helper()
	s.Turn()
	s.NoWait = true
	_, err := s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{l.call}})
	must(t, err)
	s.NoWait = false
	var now session.Running
	rig.Await(t, "the command to print", func() bool {
		answer, err := s.Status(t.Context(), 0)
		must(t, err)
		if answer.Status == "waiting_for_gpt" {
			t.Fatalf("the command did not last: %+v", answer.Turn.Results)
		}
		if current := snapshotOf(t, answer).CurrentRun; current != nil && len(current.Running) == 1 {
			now = current.Running[0]
		}
		return now.Bytes == printed
	})
	if got := len(l.running(t)); got < 2 {
		t.Fatalf("%d processes of the command are there", got)
	}
	return now
}

// TestACommandIsSeenWhileItRuns follows a command by its progress, and ends it
// with its session: everything of it is gone then, and the receipt says so.
func TestACommandIsSeenWhileItRuns(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	l := newLasting()
	now := l.begin(t, g, s)
	if now.Name != "RunCommand" || now.ActionID == "" {
		t.Errorf("the command under way: %+v", now)
	}
	list, err := g.Admin().List(t.Context())
	must(t, err)
	if len(list) != 1 || list[0].Printed != (session.Printed{Bytes: printed, Lines: 1000}) {
		t.Errorf("a person sees %+v", list)
	}
	shown, err := g.Run(t.Context(), "show", s.ID)
	must(t, err)
	if !strings.Contains(shown, "RunCommand") || !strings.Contains(shown, "1000 lines") {
		t.Errorf("show does not show the command:\n%s", shown)
	}
	s.Halt()
	if left := l.running(t); len(left) != 0 {
		t.Errorf("after the stop there is %+v", left)
	}
	answer, err := s.Recover(t.Context())
	must(t, err)
	history := snapshotOf(t, answer).History
	if len(history) == 0 || len(history[0].Results) != 1 {
		t.Fatalf("the history is %+v", history)
	}
	r := history[0].Results[0]
	if r.Outcome != turn.OutcomeCancelled || !strings.Contains(r.Text, "its session was stopped") || !strings.Contains(r.Text, "1000 lines") {
		t.Errorf("the receipt says %s: %s", r.Outcome, r.Text)
	}
}

// TestACommandEndsWithItsGateway kills the gateway, or ends it in order, while
// a command runs. The command ends with it, the next gateway does not run it
// again, and Claude Code goes on with what is known of it.
func TestACommandEndsWithItsGateway(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(*rig.Gateway) error
		outcome string
		says    string
	}{
		"killed":  {(*rig.Gateway).Kill, "interrupted", "interrupted before its result was known"},
		"stopped": {(*rig.Gateway).Stop, "cancelled", "Deckhand was closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := rig.Start(t)
			s := g.Chat().Start(chatgpt.Start{})
			l := newLasting()
			l.begin(t, g, s)
			claude := g.ClaudeCode()
			must(t, c.end(g))
			rig.Await(t, "the command to be gone", func() bool { return len(l.running(t)) == 0 })
			if n := l.marks(g, s); n != 1 {
				t.Fatalf("it has begun %d times", n)
			}
			g.Again()
			s = g.Chat().Join(s.ID, "", s.Token)
			if _, err := s.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			results := s.Turn().Results
			if len(results) != 1 || results[0].Outcome != c.outcome || !strings.Contains(results[0].Text, c.says) {
				t.Errorf("the command brought %+v", results)
			}
			// What is asked for anew runs, and shows that the other did not.
			if r := s.Do(run("sh", "-c", `wc -l < "$TMPDIR/marks"`)).Results[0]; !strings.Contains(r.Text, "\n1") {
				t.Errorf("the marks: %s", r.Text)
			}
			if ended := s.Say("done"); ended.LastResult.Outcome != "completed" {
				t.Errorf("the run: %s", fakechatgpt.Describe(ended))
			}
			if len(l.running(t)) != 0 || l.marks(g, s) != 1 {
				t.Error("the command ran again")
			}
			if said := g.ClaudeTranscript(); said.Results[results[0].ToolCall] != 1 {
				t.Errorf("Claude Code has %d results of the call, of process %+v", said.Results[results[0].ToolCall], claude)
			}
		})
	}
}

// TestCommandsOfAReplyRunInOrder sends as many commands as a reply takes.
func TestCommandsOfAReplyRunInOrder(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	var calls []chatgpt.ToolCall
	for i := range 16 {
		calls = append(calls, run("sh", "-c", fmt.Sprintf(`echo %d >> "$TMPDIR/order"; cat "$TMPDIR/order" | tr '\n' ' '`, i)))
	}
	want := ""
	for i, r := range s.Do(calls...).Results {
		want += fmt.Sprint(i, " ")
		if r.Outcome != "ok" || !strings.HasSuffix(r.Text, "\n"+want) {
			t.Errorf("command %d brought %s: %s", i, r.Outcome, r.Text)
		}
	}
}

// TestACommandThatIsRefusedRunsNothingOfItsReply has one bad command in it.
func TestACommandThatIsRefusedRunsNothingOfItsReply(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	s := g.Chat().Start(chatgpt.Start{})
	s.Turn()
	_, err := s.Reply(t.Context(), chatgpt.Reply{Calls: []chatgpt.ToolCall{run("sh", "-c", `echo x > "$TMPDIR/ran"`), run("env", "sudo", "id")}})
	if err == nil || !strings.Contains(err.Error(), "command_refused") {
		t.Fatalf("the reply brought %v", err)
	}
	if r := s.Do(run("sh", "-c", `ls "$TMPDIR"`)).Results[0]; r.Outcome != "ok" || !strings.Contains(r.Text, "stdout: empty") {
		t.Errorf("something of the refused reply ran: %s", r.Text)
	}
}
