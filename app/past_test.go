package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/protected"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// past is what a gateway that has ended left: a ledger, and the files that its
// sessions wrote, by the real parts.
type past struct {
	*world
	ledger *ledger.Ledger
	tools  *executor.Executor
	trees  *worktree.Keeper
	keys   int
}

// write is one call of Write.
type write struct{ path, content string }

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{world: newWorld(t)}
	real, err := filepath.EvalSymlinks(p.home)
	p.must(err)
	if real != p.home {
		t.Fatalf("the folder for tests is a link to %s; set TMPDIR to it", real)
	}
	for _, dir := range []string{"ledger", "git"} {
		p.must(os.Mkdir(filepath.Join(p.state, "private", dir), 0o700))
	}
	_, err = session.CreateSecret(filepath.Join(p.state, "private", "key"))
	p.must(err)
	rules, err := protected.New(protected.Config{Home: p.home, State: p.state})
	p.must(err)
	p.tools, err = executor.New(executor.Config{Protected: rules})
	p.must(err)
	p.trees, err = worktree.New(t.Context(), worktree.Config{Scratch: filepath.Join(p.state, "private", "git"), Home: p.home, Protected: rules})
	p.must(err)
	p.ledger, err = ledger.Open(ledger.Options{Dir: filepath.Join(p.state, "private", "ledger")})
	p.must(err)
	return p
}

func (p *past) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// ends closes the ledger, so that the next gateway or command can open it.
func (p *past) ends() *world {
	p.t.Helper()
	p.must(p.ledger.Close())
	return p.world
}

func (p *past) key() turn.Key {
	p.keys++
	return turn.Key(fmt.Sprintf("key-%012d", p.keys))
}

// begins records a session. With askFor it waits for a person, else it runs.
func (p *past) begins(label string, profile turn.Profile, dir string, w ledger.WorkspaceRecord, id turn.SessionID, askFor time.Duration) ledger.Effect {
	p.t.Helper()
	e, err := p.ledger.Start(ledger.StartInput{
		Input: ledger.Input{Scope: "test", Key: p.key(), Digest: "d"}, ID: id, ClaudeSession: uuid.NewString(), Label: label,
		Profile: profile, Subagent: turn.NoSubagent, WorkingDirectory: dir, Workspace: w, Prompt: "write for " + label,
		AskFor: askFor, LeaseFor: time.Hour, MaxLive: 8,
	})
	p.must(err)
	return e
}

// direct records a finished direct_write session with its writes.
func (p *past) direct(label, dir string, writes ...write) turn.SessionID {
	p.t.Helper()
	e := p.begins(label, turn.DirectWrite, dir, ledger.WorkspaceRecord{Kind: "direct", Root: dir}, turn.NewSessionID(), 0)
	p.works(e, writes)
	return e.Session.ID
}

// planned is a worktree_write session that has not made its worktree.
func (p *past) planned(label, source string, askFor time.Duration) (ledger.Effect, worktree.Source, worktree.Plan) {
	p.t.Helper()
	id := turn.NewSessionID()
	from, err := p.trees.Inspect(p.t.Context(), source)
	p.must(err)
	plan := worktree.PlanFor(filepath.Join(p.home, ".deckhand", "worktrees"), from, id)
	encoded, err := json.Marshal(map[string]any{"source": from, "plan": plan})
	p.must(err)
	return p.begins(label, turn.WorktreeWrite, plan.Path, ledger.WorkspaceRecord{Kind: "worktree", Root: plan.Path, Source: from.Dir,
		Branch: plan.Branch, BaseCommit: string(from.Commit), Plan: encoded}, id, askFor), from, plan
}

// worktree records a finished worktree_write session with its writes.
func (p *past) worktree(label, source string, writes ...write) (turn.SessionID, worktree.Tree) {
	p.t.Helper()
	e, from, plan := p.planned(label, source, 0)
	tree, err := p.trees.Create(p.t.Context(), from, plan)
	p.must(err)
	made, err := json.Marshal(tree)
	p.must(err)
	p.must(p.ledger.WorktreeMade(e.Session.ID, made, turn.FileIdentity{Device: tree.Device, Inode: tree.Inode}))
	p.works(e, writes)
	return e.Session.ID, tree
}

// works takes a run through one turn with all writes to its end.
func (p *past) works(e ledger.Effect, writes []write) {
	p.t.Helper()
	none := func(turn.ActionID) bool { return false }
	_, err := p.ledger.Attach(e.Run.ID)
	p.must(err)
	first, err := p.ledger.Offer(e.Run.ID, "first", ledger.Tail{Prompt: true}, none)
	p.must(err)
	var calls []turn.ToolCall
	for _, w := range writes {
		// In canonical form: sorted keys, no blanks.
		arguments, err := json.Marshal(map[string]string{"content": w.content, "file_path": w.path})
		p.must(err)
		calls = append(calls, turn.ToolCall{Name: "Write", Arguments: arguments})
	}
	p.reply(e, first.ID, "", calls)
	answered, err := p.ledger.Turn(first.ID)
	p.must(err)
	s := e.Session
	scope := executor.Scope{Session: s.ID, Profile: s.Profile, Subagent: s.Subagent, WorkingDirectory: s.WorkingDirectory, Root: s.Workspace.Root}
	var used []turn.ToolUseID
	for i, a := range answered.Actions {
		used = append(used, a.ToolUse)
		_, err := p.ledger.Begin(e.Run.ID, a.ToolUse, a.Name, string(calls[i].Arguments), none, func(ledger.ActionRecord) bool { return false })
		p.must(err)
		result := p.tools.Run(p.t.Context(), scope, calls[i], executor.Sink{Action: a.ID,
			Prepare: func(intent turn.WriteIntent, before []byte) error { return p.ledger.Prepare(a.ID, intent, before) }})
		if result.Outcome != turn.OK {
			p.t.Fatalf("write %s: %s", writes[i].path, result.Text)
		}
		_, err = p.ledger.Finish(a.ID, result)
		p.must(err)
	}
	last, err := p.ledger.Offer(e.Run.ID, "last", ledger.Tail{ToolUses: used}, none)
	p.must(err)
	p.reply(e, last.ID, "done", nil)
	_, err = p.ledger.EndRun(e.Run.ID, ledger.End{Verb: turn.Complete})
	p.must(err)
}

func (p *past) reply(e ledger.Effect, id turn.TurnID, text string, calls []turn.ToolCall) {
	p.t.Helper()
	_, err := p.ledger.Reply(ledger.ReplyInput{
		Input:   ledger.Input{Scope: ledger.ScopeOf("reply", string(e.Session.ID), string(id)), Key: p.key(), Digest: "d" + text},
		Session: e.Session.ID, Lease: e.Session.Lease.ID, Turn: id, Text: text, Calls: calls, LeaseFor: time.Hour,
	})
	p.must(err)
}

// folder makes a folder in the home with one file.
func (p *past) folder(name, file, content string) string {
	p.t.Helper()
	dir := filepath.Join(p.home, "src", name)
	p.must(os.MkdirAll(dir, 0o755))
	p.must(os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644))
	return dir
}

// repository makes a Git repository in the home with one committed file.
func (p *past) repository(name, file, content string) string {
	p.t.Helper()
	dir := p.folder(name, file, content)
	p.git(dir, "init", "-q", "-b", "main")
	p.git(dir, "add", "-A")
	p.git(dir, "commit", "-q", "-m", "first")
	return dir
}

// git is git as the user runs it.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}
