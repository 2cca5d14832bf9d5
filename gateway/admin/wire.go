package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// PollTimeout is the longest a call waits for an event.
const PollTimeout = 25 * time.Second

// MaxEvents is the most events of one answer.
const MaxEvents = 1000

// maxBody bounds a request body, in bytes.
const maxBody = 64 << 10

// The calls. Everything that changes something or hands out a secret is a
// POST.
const (
	routeStatus   = "GET /v1/status"
	routeSessions = "GET /v1/sessions"
	routeInspect  = "GET /v1/sessions/{id}"
	routeStop     = "POST /v1/sessions/{id}/stop"
	routeRecovery = "POST /v1/sessions/{id}/recovery-token"
	routeEvents   = "GET /v1/events"
	routeToken    = "POST /v1/token"
	routeRotate   = "POST /v1/token/rotate"
	routeGreet    = "POST /v1/greet"
	routeQuit     = "POST /v1/quit"

	routeSwitches = "GET /v1/switches"
	routeFlip     = "POST /v1/switches/{switch}"

	routeWaiting     = "GET /v1/waiting"
	routeApprove     = "POST /v1/sessions/{id}/approve"
	routeDeny        = "POST /v1/sessions/{id}/deny"
	routeActions     = "GET /v1/sessions/{id}/actions"
	routeWrites      = "GET /v1/sessions/{id}/writes"
	routeFindWrites  = "GET /v1/writes"
	routeUndoSession = "POST /v1/sessions/{id}/undo"
	routeUndoAction  = "POST /v1/actions/{id}/undo"

	routeTrusts = "GET /v1/trusts"
	routeRevoke = "POST /v1/trusts/revoke"

	routePrune = "POST /v1/prune"

	routeWorktrees = "GET /v1/worktrees"
	routeDiff      = "GET /v1/sessions/{id}/worktree/diff"
	routePatch     = "GET /v1/sessions/{id}/worktree/patch"
	routeApply     = "POST /v1/sessions/{id}/worktree/apply"
	routeCommit    = "POST /v1/sessions/{id}/worktree/commit"
	routeRemove    = "POST /v1/sessions/{id}/worktree/remove"
)

// MaxDiff is the longest text of a diff in an answer, in bytes.
const MaxDiff = 16 << 20

// MaxFound is the most writes that one search answers.
const MaxFound = 100

type sessionsAnswer struct {
	Sessions []session.Summary `json:"sessions"`
}

type stopRequest struct {
	Reason string `json:"reason"`
}

type flipRequest struct {
	On bool `json:"on"`
}

type waitingAnswer struct {
	Waiting []session.Waiting `json:"waiting"`
}

// approvalRequest answers the request that was shown as generation.
type approvalRequest struct {
	Generation int `json:"generation"`
}

// dryRunRequest is undo's and apply's: nothing changes if it is set.
type dryRunRequest struct {
	DryRun bool `json:"dry_run"`
}

type commitRequest struct {
	Message string `json:"message"`
}

type removeRequest struct {
	Force bool `json:"force"`
}

type removedAnswer struct {
	Removed bool `json:"removed"`
}

type writesAnswer struct {
	Writes []session.Write `json:"writes"`
}

type actionsAnswer struct {
	Actions []session.Action `json:"actions"`
}

type trustsAnswer struct {
	Trusts []session.Trust `json:"trusts"`
}

// revokeRequest names one folder, or all of them.
type revokeRequest struct {
	Folder string `json:"folder,omitempty"`
	All    bool   `json:"all,omitempty"`
}

type worktreesAnswer struct {
	Worktrees []session.Worktree `json:"worktrees"`
}

type quitAnswer struct {
	Ending bool `json:"ending"`
}

type greetAnswer struct {
	Noticed bool `json:"noticed"`
}

type tokenAnswer struct {
	Token string `json:"token"`
}

// eventsAnswer holds events and the number to ask on from: it can be above
// that of the last event if events of other sessions were passed over.
type eventsAnswer struct {
	Events []turn.Event `json:"events"`
	Next   uint64       `json:"next"`
}

// errorAnswer is the body of every answer that is not 200.
type errorAnswer struct {
	Error struct {
		Code   turn.Code `json:"code"`
		Detail string    `json:"detail"`
	} `json:"error"`
}

// unauthorized is the one code that package turn does not have: no session and
// no model ever sees it.
const unauthorized turn.Code = "unauthorized"

// httpStatus maps a refusal to a status. The code in the body is what counts.
func httpStatus(code turn.Code) int {
	switch code {
	case turn.UnknownSession, turn.NoWorktree, turn.NotTrusted, turn.NotFound:
		return http.StatusNotFound
	case turn.InvalidArguments:
		return http.StatusBadRequest
	case turn.TooLarge:
		return http.StatusRequestEntityTooLarge
	case turn.ShuttingDown:
		return http.StatusServiceUnavailable
	case turn.InternalError:
		return http.StatusInternalServerError
	case unauthorized:
		return http.StatusUnauthorized
	}
	return http.StatusConflict
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(body)
}
