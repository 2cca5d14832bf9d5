package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"deckhand/gateway/turn"
)

// words are what a model reads of a code: what it means, and what can follow.
type words struct{ message, hint string }

// table maps every code that can reach a model to its words. It is the only
// place that does.
var table = map[turn.Code]words{
	// Calls that name or use a session.
	turn.UnknownSession:       {"There is no session of that id.", "Take native_session_id from the answer of native_session_start; the user sees all sessions with: deckhand sessions"},
	turn.LeaseExpiredCode:     {"The lease of this session has ended, and its run was stopped. Everything is kept.", "Take the session up again with native_session_recover and its recovery_token."},
	turn.LeaseMismatch:        {"That is not the current lease of this session; another conversation may have taken it over.", "Use the lease_id of the latest answer. Only with the recovery_token can native_session_recover take the session back."},
	turn.IdempotencyConflict:  {"That key was used before with other input.", "Repeat the very same input to see its effect, or use a new key for a new request."},
	turn.TurnNotPending:       {"That turn is not waiting for a reply.", "Read the state with native_session_status; answer pending_turn if there is one, by its own turn_id."},
	turn.RunActive:            {"A run of this session is still going on.", "Answer its pending turn with native_session_reply_and_wait, or wait with native_session_status; continue after it has ended."},
	turn.SessionStopped:       {"The session has been stopped.", "Take it up again with native_session_recover and its recovery_token, or start a new session."},
	turn.RecoveryRequiredCode: {"The session's process is gone and nobody saw how it ended.", "Take the session up with native_session_recover; its history shows what is done."},
	turn.RecoveryRefused:      {"The session could not be taken over.", "Check native_session_id and recovery_token; the user gets a fresh recovery prompt with: deckhand recover"},
	turn.ApprovalPending:      {"The user has not yet allowed this session.", "Tell the user that Deckhand asks for an answer (deckhand approve), and wait with native_session_status."},
	turn.ApprovalDenied:       {"The user did not allow this session.", "Talk to the user before asking again; a read_only session needs no approval."},

	// What a call asks for.
	turn.InvalidArguments:        {"The arguments do not fit the tool's schema; nothing was changed.", "Correct what the detail names and call again."},
	turn.ProfileViolation:        {"The session's profile does not allow that.", "Work within the profile, or start another session with the profile that the user wants."},
	turn.ProfileUnavailable:      {"That profile is not available on this machine.", "Use another profile; read_only is always there."},
	turn.SubagentUnavailable:     {"Subagents are not available here.", "Start the session with subagent_policy none."},
	turn.SkillNotAllowed:         {"A skill is not on the user's allow-list with that text.", "Leave the skill out, or ask the user to allow it."},
	turn.ToolUnavailable:         {"That tool is not available in this session.", "Call only tools that pending_turn.tools lists."},
	turn.OutsideWriteRoot:        {"That path lies outside the one directory that this session may change.", "Write below workspace.root; reading elsewhere is fine."},
	turn.WriteRootTooBroad:       {"That directory is too broad to be changed by a session.", "Name the project's own directory as working_directory."},
	turn.WorkingDirectoryInvalid: {"The working directory cannot be used.", "Give the absolute path of an existing directory."},
	turn.RepositoryNotClean:      {"worktree_write needs the clean top level of a Git repository.", "Ask the user to commit or set aside the changes, or use another profile."},
	turn.ReplyInvalid:            {"The reply cannot be accepted as it is; none of its calls ran.", "Correct what the detail names and send the whole reply again under a new reply_id."},
	turn.TooLarge:                {"That is larger than Deckhand takes.", "Send less; long texts can be split over several calls."},

	// What this machine can do now.
	turn.ClaudeNotFound:     {"Claude Code was not found on the user's computer.", "Ask the user to run: deckhand claude install"},
	turn.SandboxUnavailable: {"The sandbox does not work on the user's computer, and nothing runs without it.", "Ask the user to run: deckhand doctor"},
	turn.Capacity:           {"As many sessions are live as Deckhand allows.", "Stop a session that is no longer needed, or wait."},
	turn.Paused:             {"The user has paused new sessions.", "Go on with a session that exists, or ask the user to resume them (deckhand resume)."},
	turn.ShuttingDown:       {"Deckhand is closing.", "Call again in a moment with the same key; nothing is lost."},
	turn.InternalError:      {"Something went wrong inside Deckhand.", "Read the state with native_session_status before going on; the cause is in Deckhand's log."},

	// Actions that failed. They also answer calls that name such a path.
	turn.ProtectedPath:       {"That path is protected.", "Do without it; the user decides what is protected."},
	turn.OSPermissionDenied:  {"The operating system does not let Deckhand at that.", "Ask the user to grant access, or do without it."},
	turn.NotFound:            {"There is nothing at that path.", "Look for it with FindFiles."},
	turn.NotADirectory:       {"That path is not a directory.", "Give the path of a directory."},
	turn.NotARegularFile:     {"That path is not a regular file.", "Give the path of a regular file."},
	turn.SymlinkRefused:      {"That path is a symbolic link.", "Use the path that the link points to."},
	turn.HardLinkRefused:     {"That file has more than one name.", "Read it, or ask the user; it is not changed through one of its names."},
	turn.PseudoFileSystem:    {"That path belongs to a file system of the kernel.", "Do without it."},
	turn.NotUTF8:             {"That is not UTF-8 text.", "Treat the file as binary; only its size and hash are shown."},
	turn.OutOfRange:          {"That lies beyond the end.", "Use a smaller offset."},
	turn.IOError:             {"Reading or writing failed.", "Try once more; if it happens again, tell the user."},
	turn.CursorInvalid:       {"That cursor does not belong to this search.", "Begin the search again without a cursor."},
	turn.NotExecuted:         {"The call never began.", "Call again if it is still wanted."},
	turn.InterruptedCode:     {"The call began and nobody knows how it ended.", "Look at the result on disk before doing it again."},
	turn.CancelledCode:       {"The call was ended by a stop.", "Call again if it is still wanted."},
	turn.CallMismatch:        {"Claude Code asked for something else than was authorised.", "Read the state with native_session_status."},
	turn.ActionLimitExceeded: {"The call reached a limit and was ended.", "Ask for less at a time."},

	turn.WriteIndeterminate: {"A crash interrupted a write, and nobody can tell whether it happened.", "Tell the user, who can look at the file; nothing was repeated."},
	turn.EditNotFound:       {"The text to replace is not in the file.", "Read the file again and copy the text exactly, white space included."},
	turn.EditNotUnique:      {"The text to replace is in the file more than once.", "Give more of the text around it, or set replace_all."},
	turn.EditNoChange:       {"That would change nothing.", "Give a new_string that differs from old_string."},
	turn.ReadOnlyFile:       {"The file is marked as read-only.", "Ask the user; the mark is not taken off by itself."},
	turn.FileExists:         {"There is something at that path already.", "Read it first, or choose another path."},
	turn.FileChanged:        {"The file is not what the call expected.", "Read it again and decide anew."},
	turn.NotANotebook:       {"That file is not a notebook that can be edited by cell.", "Read it; a damaged notebook is for the user to mend."},
	turn.CellNotFound:       {"There is no such cell in the notebook.", "Read the notebook; each cell is shown with its handle."},
	turn.NoSpace:            {"There is no space left on the disk; nothing was changed.", "Tell the user; the same call works once there is space."},
	turn.ReadOnlyFileSystem: {"The file system cannot be written to.", "Tell the user, or work in another directory."},
	turn.CommandRefused:     {"A command may not begin like that; nothing was started.", "Reach the same end with the other tools, or with a script of the project."},

	turn.CommandNotFound: {"There is no such program that can be run.", "Use a program that is there; the detail names where it was looked for."},

	// Git and worktrees.
	turn.GitUnavailable:        {"Git is missing on the user's computer, or too old.", "Use another profile, or ask the user to install Git."},
	turn.GitFailed:             {"Git could not do that.", "Tell the user; Deckhand's log says why."},
	turn.RepositoryUnsupported: {"A worktree could not show this repository faithfully.", "Use another profile; the detail says what the repository uses."},
	turn.WorktreeOccupied:      {"Something else stands where the worktree should be.", "Tell the user what the detail says."},
	turn.WorktreeChanged:       {"The worktree is no longer what Deckhand made.", "Tell the user; start another session if it is still wanted."},
	turn.WorktreeNotClean:      {"The worktree holds work that would be lost.", "Tell the user."},
	turn.WorktreeBusy:          {"Something else is at work in this worktree.", "Try again in a moment."},
	turn.NoWorktree:            {"The session has no worktree.", "Only worktree_write sessions have one, from their first run on."},
	turn.WorktreeRemoved:       {"The worktree of this session was removed, so that it cannot go on.", "Tell the user; what was committed is on the session's branch. Start a new session for more work."},
	turn.ApplyConflict:         {"What the worktree changed does not fit the user's checkout; nothing was written.", "Tell the user, who sees the conflicts with: deckhand worktrees apply --dry-run"},
	turn.NothingToCommit:       {"The worktree holds nothing new.", "Go on without a commit."},

	// What a person asks for at the machine.
	turn.ApprovalNotPending: {"The session does not wait for an answer.", "Look at it again."},
	turn.NothingToUndo:      {"There is nothing to undo.", "Look at the session's writes."},
	turn.UndoUnavailable:    {"What the file held before that write is no longer kept, so that it cannot be undone.", "Tell the user, who sets in the settings how long it is kept."},
	turn.SessionInUse:       {"Something is still going on with the session.", "Look at it again in a moment."},
	turn.NotTrusted:         {"No session is trusted in that folder.", "The user sees the trusted folders with: deckhand trust"},
	turn.UndoConflict:       {"The file was changed since, and is left as it is.", "Tell the user."},

	// Runs that ended without a result.
	turn.UnexpectedModelRequest: {"Claude Code asked something that is no turn, and the run was ended.", "Go on with native_session_continue."},
	turn.NoFirstTurn:            {"Claude Code ended before it asked anything.", "Go on with native_session_continue; if it happens again, ask the user to run: deckhand doctor"},
	turn.LaunchFailed:           {"Claude Code could not be started.", "Ask the user to run: deckhand doctor"},
	turn.ClaudeExited:           {"Claude Code ended without a result.", "Go on with native_session_continue."},
	turn.ShimLost:               {"The run's process is gone and nobody saw how it ended.", "Take the session up with native_session_recover."},
}

// refuse makes the result of a call that failed. Only what a *turn.Refusal
// says in public reaches the caller; anything else is logged here and answered
// as internal_error.
func (s *Server) refuse(ctx context.Context, x *exchange, err error) *mcp.CallToolResult {
	refusal, ok := errors.AsType[*turn.Refusal](err)
	if ok {
		// Its detail may quote the caller, so only the cause is for the log.
		_, ok = table[refusal.Code]
		err = refusal.Cause
	}
	if !ok {
		if err == nil {
			err = fmt.Errorf("refused with unknown code %q", refusal.Code)
		}
		refusal = &turn.Refusal{Code: turn.InternalError}
	}
	if err != nil && ctx.Err() == nil { // a dead context has no listener and is no fault
		s.log.Error("call failed", keyTool, x.message.tool, keyCode, refusal.Code, "err", err)
	}
	x.code = string(refusal.Code)
	return &mcp.CallToolResult{
		Content: []mcp.Content{mcp.NewTextContent(refusalText(refusal))},
		IsError: true,
	}
}

// refusalText is the one form of a refusal.
func refusalText(r *turn.Refusal) string {
	type body struct {
		Code    turn.Code `json:"code"`
		Message string    `json:"message"`
		Detail  string    `json:"detail,omitempty"`
		Hint    string    `json:"hint"`
	}
	w := table[r.Code]
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]body{"error": {r.Code, w.message, r.Detail, w.hint}}); err != nil {
		panic(err) // strings always encode
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
