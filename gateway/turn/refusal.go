package turn

import "fmt"

// Code is the stable name of a refusal or of a failed action. The message and
// the hint for each code that reaches a model stand in one table, in package
// control; the set only grows.
type Code string

// Codes of calls that name or use a session.
const (
	UnknownSession       Code = "unknown_session"
	LeaseExpiredCode     Code = "lease_expired"
	LeaseMismatch        Code = "lease_mismatch"
	IdempotencyConflict  Code = "idempotency_conflict"
	TurnNotPending       Code = "turn_not_pending"
	RunActive            Code = "run_active"
	SessionStopped       Code = "session_stopped"
	RecoveryRequiredCode Code = "recovery_required"
	RecoveryRefused      Code = "recovery_refused"
	ApprovalPending      Code = "approval_pending"
	ApprovalDenied       Code = "approval_denied"
)

// Codes of what a call asks for.
const (
	InvalidArguments        Code = "invalid_arguments"
	ProfileViolation        Code = "profile_violation"
	ProfileUnavailable      Code = "profile_unavailable"
	SubagentUnavailable     Code = "subagent_unavailable"
	SkillNotAllowed         Code = "skill_not_allowed"
	ToolUnavailable         Code = "tool_unavailable"
	OutsideWriteRoot        Code = "outside_write_root"
	WriteRootTooBroad       Code = "write_root_too_broad"
	WorkingDirectoryInvalid Code = "working_directory_invalid"
	RepositoryNotClean      Code = "repository_not_clean"
	ReplyInvalid            Code = "reply_invalid"
	TooLarge                Code = "too_large"
)

// Codes of what this machine can do now.
const (
	ClaudeNotFound     Code = "claude_not_found"
	SandboxUnavailable Code = "sandbox_unavailable"
	Capacity           Code = "capacity"
	// Paused: a person has paused new sessions.
	Paused        Code = "paused"
	ShuttingDown  Code = "shutting_down"
	InternalError Code = "internal_error"
)

// Codes of Git and of worktrees.
const (
	// GitUnavailable: there is no git on this computer, or it is too old.
	GitUnavailable Code = "git_unavailable"
	// GitFailed: git ended in a way that nobody foresaw; the cause is private.
	GitFailed Code = "git_failed"
	// RepositoryUnsupported: the repository uses something that a worktree
	// could not show faithfully.
	RepositoryUnsupported Code = "repository_unsupported"
	// WorktreeOccupied: something that is not ours stands where the worktree or
	// its branch should be.
	WorktreeOccupied Code = "worktree_occupied"
	// WorktreeChanged: the worktree is not what Deckhand made any more.
	WorktreeChanged Code = "worktree_changed"
	// WorktreeNotClean: removing the worktree would lose something.
	WorktreeNotClean Code = "worktree_not_clean"
	// WorktreeBusy: another call works on the same worktree.
	WorktreeBusy Code = "worktree_busy"
	// NoWorktree: the session never had a worktree, or has none yet.
	NoWorktree Code = "no_worktree"
	// WorktreeRemoved: a person had the session's worktree removed, or began to.
	WorktreeRemoved Code = "worktree_removed"
	// ApplyConflict: what the worktree changed does not fit its source, and
	// nothing was written.
	ApplyConflict Code = "apply_conflict"
	// NothingToCommit: the worktree holds what its branch holds.
	NothingToCommit Code = "nothing_to_commit"
)

// Codes of what a person asks for at this machine.
const (
	// ApprovalNotPending: the session does not wait for an answer, or not for
	// this one any more.
	ApprovalNotPending Code = "approval_not_pending"
	// NothingToUndo: the action changed no file, or was undone already.
	NothingToUndo Code = "nothing_to_undo"
	// UndoConflict: the file is not what the action left.
	UndoConflict Code = "undo_conflict"
	// UndoUnavailable: what the file held before the write is no longer kept.
	UndoUnavailable Code = "undo_unavailable"
	// SessionInUse: something is going on with the session that has to end
	// before it can be removed.
	SessionInUse Code = "session_in_use"
	// NotTrusted: no person has allowed a profile in that folder.
	NotTrusted Code = "not_trusted"
)

// Codes of an action that failed. They stand in its receipt.
const (
	ProtectedPath       Code = "protected_path"
	OSPermissionDenied  Code = "os_permission_denied"
	NotFound            Code = "not_found"
	NotADirectory       Code = "not_a_directory"
	NotARegularFile     Code = "not_a_regular_file"
	SymlinkRefused      Code = "symlink_refused"
	HardLinkRefused     Code = "hard_link_refused"
	PseudoFileSystem    Code = "pseudo_file_system"
	NotUTF8             Code = "not_utf8"
	OutOfRange          Code = "out_of_range"
	IOError             Code = "io_error"
	CursorInvalid       Code = "cursor_invalid"
	NotExecuted         Code = "not_executed"
	InterruptedCode     Code = "interrupted"
	CancelledCode       Code = "cancelled"
	CallMismatch        Code = "call_mismatch"
	ActionLimitExceeded Code = "action_limit_exceeded"
	// WriteIndeterminate: a crash interrupted a write, and the file is neither
	// what it was nor what it was to be.
	WriteIndeterminate Code = "write_indeterminate"
	EditNotFound       Code = "edit_not_found"
	EditNotUnique      Code = "edit_not_unique"
	EditNoChange       Code = "edit_no_change"
	ReadOnlyFile       Code = "read_only_file"
	FileExists         Code = "file_exists"
	FileChanged        Code = "file_changed"
	NotANotebook       Code = "not_a_notebook"
	CellNotFound       Code = "cell_not_found"
	NoSpace            Code = "no_space"
	ReadOnlyFileSystem Code = "read_only_file_system"
	// CommandRefused: the arguments of a command begin with what no session may
	// run. Nothing was started.
	CommandRefused Code = "command_refused"
	// CommandNotFound: argv names nothing that could be started.
	CommandNotFound Code = "command_not_found"
)

// Codes of a run that ended without a result.
const (
	UnexpectedModelRequest Code = "unexpected_model_request"
	NoFirstTurn            Code = "no_first_turn"
	LaunchFailed           Code = "launch_failed"
	ClaudeExited           Code = "claude_exited"
	ShimLost               Code = "shim_lost"
)

// Refusal is the one error type that reaches a model or a user: a stable code,
// a public detail that says what exactly was wrong ("" if the code says it
// all), and the private cause for the log. The detail never holds a secret or
// an internal path.
type Refusal struct {
	Code   Code
	Detail string
	Cause  error
}

func (r *Refusal) Error() string {
	s := string(r.Code)
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	if r.Cause != nil {
		s += ": " + r.Cause.Error()
	}
	return s
}

func (r *Refusal) Unwrap() error { return r.Cause }

// Refuse makes a refusal with a formatted public detail.
func Refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// RefuseFor makes a refusal that keeps a private cause for the log.
func RefuseFor(code Code, cause error, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Detail: fmt.Sprintf(format, args...), Cause: cause}
}
