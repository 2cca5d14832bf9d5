package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deckhand/gateway/turn"
)

// recordVersion is the version that every record is written with.
const recordVersion = 1

// SessionRecord is everything about a session that is not a run, turn or action.
type SessionRecord struct {
	V                int                 `json:"v"`
	ID               turn.SessionID      `json:"id"`
	ClaudeSession    string              `json:"claude_session"`
	Label            string              `json:"label,omitempty"`
	Profile          turn.Profile        `json:"profile"`
	Subagent         turn.SubagentPolicy `json:"subagent"`
	WorkingDirectory string              `json:"working_directory"`
	Workspace        WorkspaceRecord     `json:"workspace"`
	Status           turn.Status         `json:"status"`
	Revision         uint64              `json:"revision"`
	CreatedAt        time.Time           `json:"created_at"`
	UpdatedAt        time.Time           `json:"updated_at"`
	Lease            turn.Lease          `json:"lease"`
	// Run is the newest run, Runs how many there were.
	Run  turn.RunID `json:"run"`
	Runs int        `json:"runs"`
	// Pending is the turn that waits for a reply: set exactly in WaitingForGPT.
	Pending turn.TurnID `json:"pending,omitempty"`
	// Brief says that the next pending turn carries prompt and tools again,
	// because the holder of the lease may never have seen them.
	Brief bool `json:"brief"`
	// Undelivered are the actions, in the order of their calls, whose receipts
	// no answered turn has carried yet.
	Undelivered []turn.ActionID `json:"undelivered,omitempty"`
	// Notices are sentences that the next turn carries.
	Notices     []string        `json:"notices,omitempty"`
	Approval    *ApprovalRecord `json:"approval,omitempty"`
	LastResult  *ResultRecord   `json:"last_result,omitempty"`
	LaunchError *LaunchRecord   `json:"launch_error,omitempty"`
	Stop        *StopRecord     `json:"stop,omitempty"`
	Terminal    *TerminalRecord `json:"terminal,omitempty"`
}

// WorkspaceRecord says where a session writes. Its zero value writes nowhere.
type WorkspaceRecord struct {
	// Kind is "", "direct" or "worktree".
	Kind string `json:"kind,omitempty"`
	// Root is the one directory below which the session writes.
	Root string `json:"root,omitempty"`
	// Identity is the root as it was when the session was made, or, for a
	// worktree, when the worktree was; zero before.
	Identity turn.FileIdentity `json:"identity,omitzero"`
	// The rest is a worktree's. Plan and Tree are in the words of package
	// worktree: how it is to be made, and what was made, nil before.
	Source     string          `json:"source,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	BaseCommit string          `json:"base_commit,omitempty"`
	Plan       json.RawMessage `json:"plan,omitempty"`
	Tree       json.RawMessage `json:"tree,omitempty"`
	// Retired is when a person had the worktree removed: since then no run
	// begins. Removed is when that was done; a crash may leave it zero.
	Retired time.Time `json:"retired,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
}

// ApprovalRecord is a person's answer, pending or given, to a session that
// wants to write.
type ApprovalRecord struct {
	State ApprovalState `json:"state"`
	// Generation is part of an answer, so that a late click answers only what
	// was shown.
	Generation int       `json:"generation"`
	ExpiresAt  time.Time `json:"expires_at"`
	// Prompt is the prompt of the run that an approval starts.
	Prompt Body `json:"prompt"`
}

// ApprovalState is where an approval stands.
type ApprovalState string

// The states of approvals.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalApproved ApprovalState = "approved"
	ApprovalDenied   ApprovalState = "denied"
	ApprovalExpired  ApprovalState = "expired"
)

// ResultRecord is how a run ended.
type ResultRecord struct {
	Run        turn.RunID `json:"run"`
	Outcome    RunOutcome `json:"outcome"`
	Text       Body       `json:"text"`
	FinishedAt time.Time  `json:"finished_at"`
	// Changes is the summary of changed files, as the engine encodes it.
	Changes Body `json:"changes,omitzero"`
}

// LaunchRecord is why a run could not be started. Message is public.
type LaunchRecord struct {
	Code    turn.Code `json:"code"`
	Message string    `json:"message"`
}

// StopRecord is the request that ended the session.
type StopRecord struct {
	RequestID turn.Key  `json:"request_id"`
	Reason    string    `json:"reason,omitempty"`
	By        Actor     `json:"by"`
	At        time.Time `json:"at"`
}

// TerminalRecord says how the last run came to an end without a result.
type TerminalRecord struct {
	Outcome RunOutcome `json:"outcome"`
	Code    turn.Code  `json:"code,omitempty"`
	At      time.Time  `json:"at"`
}

// Actor is who did something.
type Actor string

// The actors of events and stops.
const (
	ByChatGPT Actor = "chatgpt"
	ByUser    Actor = "user"
	ByClaude  Actor = "claude"
	ByGateway Actor = "gateway"
)

// RunOutcome says how a run ended.
type RunOutcome string

// The outcomes of runs.
const (
	RunCompleted RunOutcome = "completed"
	RunFailed    RunOutcome = "failed"
	RunStopped   RunOutcome = "stopped"
	RunExpired   RunOutcome = "expired"
	RunLost      RunOutcome = "lost"
	RunDenied    RunOutcome = "denied"
)

// RunRecord is one Claude Code process, from a prompt to its result.
type RunRecord struct {
	V       int            `json:"v"`
	ID      turn.RunID     `json:"id"`
	Session turn.SessionID `json:"session"`
	Number  int            `json:"number"`
	// Prev is the session's run before it, "" for the first.
	Prev    turn.RunID `json:"prev,omitempty"`
	Prompt  Body       `json:"prompt"`
	Started time.Time  `json:"started"`
	// Last is the newest turn, Turns how many there were.
	Last    turn.TurnID `json:"last,omitempty"`
	Turns   int         `json:"turns"`
	Actions int         `json:"actions"`
	// Concluded says that a reply without calls was accepted: its text is the
	// run's result once Claude Code ended well.
	Concluded bool      `json:"concluded,omitempty"`
	Ended     time.Time `json:"ended,omitzero"`
	// Outcome and Code are set exactly if Ended is.
	Outcome RunOutcome `json:"outcome,omitempty"`
	Code    turn.Code  `json:"code,omitempty"`
}

// Open reports whether the run has not ended.
func (r RunRecord) Open() bool { return r.Ended.IsZero() }

// TurnRecord is one model request and its answer.
type TurnRecord struct {
	V        int            `json:"v"`
	ID       turn.TurnID    `json:"id"`
	Session  turn.SessionID `json:"session"`
	Run      turn.RunID     `json:"run"`
	Sequence int            `json:"sequence"`
	// Prev is the turn before it in the run, "" for the first.
	Prev     turn.TurnID `json:"prev,omitempty"`
	Digest   string      `json:"digest"`
	OpenedAt time.Time   `json:"opened_at"`
	// Results are the actions whose receipts the turn carries.
	Results []turn.ActionID `json:"results,omitempty"`
	Notices []string        `json:"notices,omitempty"`
	// Reply is nil until the turn is answered.
	Reply *ReplyRecord `json:"reply,omitempty"`
}

// ReplyRecord is the one reply to a turn.
type ReplyRecord struct {
	ReplyID turn.Key        `json:"reply_id"`
	Text    Body            `json:"text"`
	Actions []turn.ActionID `json:"actions,omitempty"`
	At      time.Time       `json:"at"`
}

// ActionRecord is one authorised call.
type ActionRecord struct {
	V         int              `json:"v"`
	ID        turn.ActionID    `json:"id"`
	Session   turn.SessionID   `json:"session"`
	Run       turn.RunID       `json:"run"`
	Turn      turn.TurnID      `json:"turn"`
	ToolUse   turn.ToolUseID   `json:"tool_use"`
	Name      string           `json:"name"`
	Arguments Body             `json:"arguments"`
	State     turn.ActionState `json:"state"`
	BegunAt   time.Time        `json:"begun_at,omitzero"`
	Attempts  int              `json:"attempts"`
	// Undoes names the write that this action, a person's, takes back. Such an
	// action belongs to the turn of that write and has no tool_use id.
	Undoes turn.ActionID `json:"undoes,omitempty"`
	// Intent is set before a write happens, and Before is the file's content
	// until then, so that the write can be taken back. UndoneBy is the action
	// that did. Forgotten is when Before was dropped, and with it the way back.
	Intent    *turn.WriteIntent `json:"intent,omitempty"`
	Before    Body              `json:"before,omitzero"`
	UndoneBy  turn.ActionID     `json:"undone_by,omitempty"`
	Forgotten time.Time         `json:"forgotten,omitzero"`
	// Receipt is set exactly if the action is finished; Text is its body.
	Receipt *turn.Receipt `json:"receipt,omitempty"`
	Text    Body          `json:"text,omitzero"`
}

// KeyRecord is the effect that a call had under an idempotency key.
type KeyRecord struct {
	V       int            `json:"v"`
	Digest  string         `json:"digest"`
	Session turn.SessionID `json:"session"`
	// Lease is the one that the call used, or, for start and recover, made.
	Lease turn.LeaseID `json:"lease"`
	At    time.Time    `json:"at"`
}

// record is what the store keeps: it knows its version and its own rules.
type record interface {
	version() int
	validate() error
}

func (r SessionRecord) version() int { return r.V }
func (r RunRecord) version() int     { return r.V }
func (r TurnRecord) version() int    { return r.V }
func (r ActionRecord) version() int  { return r.V }
func (r KeyRecord) version() int     { return r.V }

func (r SessionRecord) validate() error {
	switch {
	case r.ID == "" || r.ClaudeSession == "" || r.WorkingDirectory == "":
		return errors.New("session without id, Claude Code session or directory")
	case !r.Profile.Valid() || !r.Subagent.Valid():
		return fmt.Errorf("session with profile %q and subagent policy %q", r.Profile, r.Subagent)
	case r.Revision == 0 || r.Lease.Epoch == 0 || r.Lease.ID == "":
		return errors.New("session without revision or lease")
	case (r.Pending != "") != (r.Status == turn.WaitingForGPT):
		return fmt.Errorf("session %s with pending turn %q", r.Status, r.Pending)
	case (r.Run == "") != (r.Runs == 0):
		return errors.New("session whose number of runs is off")
	case r.Profile.Writes() != (r.Workspace.Root != ""):
		return fmt.Errorf("session of profile %s with the write root %q", r.Profile, r.Workspace.Root)
	case r.Workspace.Retired.IsZero() && !r.Workspace.Removed.IsZero(), !r.Workspace.Retired.IsZero() && len(r.Workspace.Tree) == 0:
		return errors.New("session whose worktree was removed without having been there")
	case (r.Status == turn.AwaitingApproval) != (r.Approval != nil && r.Approval.State == ApprovalPending):
		return fmt.Errorf("session %s with approval %+v", r.Status, r.Approval)
	}
	return nil
}

func (r RunRecord) validate() error {
	switch {
	case r.ID == "" || r.Session == "" || r.Number < 1:
		return errors.New("run without id, session or number")
	case (r.Prev == "") != (r.Number == 1):
		return errors.New("run whose number is off")
	case r.Open() != (r.Outcome == ""):
		return fmt.Errorf("run with outcome %q that ended at %s", r.Outcome, r.Ended)
	case (r.Last == "") != (r.Turns == 0):
		return errors.New("run whose number of turns is off")
	}
	return nil
}

func (r TurnRecord) validate() error {
	switch {
	case r.ID == "" || r.Run == "" || r.Session == "" || r.Digest == "":
		return errors.New("turn without id, run, session or digest")
	case r.Sequence < 1 || (r.Prev == "") != (r.Sequence == 1):
		return errors.New("turn whose sequence is off")
	}
	return nil
}

func (r ActionRecord) validate() error {
	switch {
	case r.ID == "" || r.Run == "" || r.Turn == "" || r.Name == "":
		return errors.New("action without id, run, turn or name")
	case (r.ToolUse == "") != (r.Undoes != ""):
		return errors.New("action whose tool_use id does not fit to what it undoes")
	case (r.Receipt != nil) != (r.State == turn.Finished):
		return fmt.Errorf("action %s with a receipt: %t", r.State, r.Receipt != nil)
	case r.State == turn.Authorized && (r.Attempts != 0 || r.Intent != nil):
		return errors.New("authorised action with attempts")
	case r.Receipt != nil && r.Receipt.Write != nil && r.Intent == nil:
		return errors.New("action that wrote without an intent")
	case !r.Forgotten.IsZero() && (r.Intent == nil || r.Receipt == nil || r.Before != Body{}):
		return errors.New("action whose content from before is forgotten and there, or was never kept")
	}
	return nil
}

func (r KeyRecord) validate() error {
	if r.Digest == "" || r.Session == "" || r.Lease == "" {
		return errors.New("key without digest, session or lease")
	}
	return nil
}

func encode(r record) ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return json.Marshal(r)
}

func decode[T record](data []byte) (T, error) {
	var r T
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("decode record: %w", err)
	}
	if r.version() != recordVersion {
		return r, fmt.Errorf("decode record: version %d is not version %d of this build", r.version(), recordVersion)
	}
	if err := r.validate(); err != nil {
		return r, fmt.Errorf("decode record: %w", err)
	}
	return r, nil
}
