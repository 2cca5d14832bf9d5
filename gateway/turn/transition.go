package turn

import "fmt"

// Verb is a change of a session. Verbs are the only way a status changes.
type Verb string

const (
	// Approve: a person allowed the session.
	Approve Verb = "approve"
	// Deny: a person refused the session, or nobody answered in time.
	Deny Verb = "deny"
	// Attach: the shim of the run said hello.
	Attach Verb = "attach"
	// Offer: Claude Code asked for a turn, and it is published.
	Offer Verb = "offer"
	// Answer: a reply with calls was accepted.
	Answer Verb = "answer"
	// Conclude: a reply without calls was accepted.
	Conclude Verb = "conclude"
	// Settle: every action of the turn has its receipt.
	Settle Verb = "settle"
	// Complete: the run ended with a result.
	Complete Verb = "complete"
	// Fail: the run ended without one.
	Fail Verb = "fail"
	// Continue: a new run was asked for.
	Continue Verb = "continue"
	// Stop: the end was asked for.
	Stop Verb = "stop"
	// Halt: nothing of the session runs any more.
	Halt Verb = "halt"
	// Expire: the lease ended.
	Expire Verb = "expire"
	// Lose: the run's process is gone and nobody saw how it ended.
	Lose Verb = "lose"
	// Recover: the lease was rotated for whoever holds the recovery token.
	Recover Verb = "recover"
)

// transitions is the whole state machine: verb × from → to. A pair that is
// missing cannot happen; Next refuses it.
var transitions = map[Verb]map[Status]Status{
	Approve:  {AwaitingApproval: Starting},
	Deny:     {AwaitingApproval: Stopped},
	Attach:   {Starting: Running},
	Offer:    {Starting: WaitingForGPT, Running: WaitingForGPT, Executing: WaitingForGPT},
	Answer:   {WaitingForGPT: Executing},
	Conclude: {WaitingForGPT: Running},
	Settle:   {Executing: Running},
	// A run can only complete after a reply without calls, which left it
	// running; any other end is a failure or a loss.
	Complete: {Running: Idle},
	Fail:     {Starting: Failed, Running: Failed, WaitingForGPT: Failed, Executing: Failed},
	Continue: {Idle: Starting, Failed: Starting},
	Stop: {
		AwaitingApproval: Stopping, Starting: Stopping, Running: Stopping, WaitingForGPT: Stopping,
		Executing: Stopping, Idle: Stopping, Failed: Stopping, LeaseExpired: Stopping, RecoveryRequired: Stopping,
	},
	Halt: {Stopping: Stopped},
	// A lease cannot end while an action runs or an approval is awaited. A lost
	// session needs a recover anyway, and says more as it is.
	Expire: {
		Starting: LeaseExpired, Running: LeaseExpired, WaitingForGPT: LeaseExpired,
		Idle: LeaseExpired, Failed: LeaseExpired,
	},
	Lose: {
		Starting: RecoveryRequired, Running: RecoveryRequired,
		WaitingForGPT: RecoveryRequired, Executing: RecoveryRequired,
	},
	Recover: {
		AwaitingApproval: AwaitingApproval, Starting: Starting, Running: Running,
		WaitingForGPT: WaitingForGPT, Executing: Executing, Idle: Idle, Failed: Failed,
		Stopped: Idle, LeaseExpired: Idle, RecoveryRequired: Idle,
	},
}

// Verbs lists every verb in the order of a session's life.
func Verbs() []Verb {
	return []Verb{Approve, Deny, Attach, Offer, Answer, Conclude, Settle, Complete,
		Fail, Continue, Stop, Halt, Expire, Lose, Recover}
}

// TransitionError says that a verb makes no sense in a status. It is a fault
// of the program, not of a user: callers are refused by Permit before.
type TransitionError struct {
	From Status
	Verb Verb
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("cannot %s a session that is %s", e.Verb, e.From)
}

// Next returns the status that verb leads to. It returns a *TransitionError
// and an empty status if the table has no such pair.
func Next(from Status, verb Verb) (Status, error) {
	to, ok := transitions[verb][from]
	if !ok {
		return "", &TransitionError{From: from, Verb: verb}
	}
	return to, nil
}

// Call is what a holder of a lease or a recovery token can ask of a session
// that exists. Status is not among them: it always answers.
type Call string

const (
	CallContinue Call = "continue"
	CallReply    Call = "reply_and_wait"
	CallStop     Call = "stop"
	CallRecover  Call = "recover"
)

// Calls lists every call.
func Calls() []Call { return []Call{CallContinue, CallReply, CallStop, CallRecover} }

// permits is status × call → the code of the refusal, where "" allows the call
// and Replay answers with the present state, changing nothing.
var permits = map[Status]map[Call]Code{
	AwaitingApproval: {CallContinue: ApprovalPending, CallReply: ApprovalPending, CallStop: "", CallRecover: ""},
	Starting:         {CallContinue: RunActive, CallReply: TurnNotPending, CallStop: "", CallRecover: ""},
	Running:          {CallContinue: RunActive, CallReply: TurnNotPending, CallStop: "", CallRecover: ""},
	Executing:        {CallContinue: RunActive, CallReply: TurnNotPending, CallStop: "", CallRecover: ""},
	WaitingForGPT:    {CallContinue: RunActive, CallReply: "", CallStop: "", CallRecover: ""},
	Idle:             {CallContinue: "", CallReply: TurnNotPending, CallStop: "", CallRecover: ""},
	Failed:           {CallContinue: "", CallReply: TurnNotPending, CallStop: "", CallRecover: ""},
	Stopping:         {CallContinue: SessionStopped, CallReply: SessionStopped, CallStop: Replay, CallRecover: SessionStopped},
	Stopped:          {CallContinue: SessionStopped, CallReply: SessionStopped, CallStop: Replay, CallRecover: ""},
	LeaseExpired:     {CallContinue: LeaseExpiredCode, CallReply: LeaseExpiredCode, CallStop: "", CallRecover: ""},
	RecoveryRequired: {CallContinue: RecoveryRequiredCode, CallReply: RecoveryRequiredCode, CallStop: "", CallRecover: ""},
}

// Replay is not a refusal: the call already had its effect.
const Replay Code = "replay"

// Permit says whether call may be made in status: "" allows it, Replay answers
// the present state, any other code refuses it. A session that a person denied
// cannot be recovered: denied turns that one cell into ApprovalDenied.
func Permit(status Status, call Call, denied bool) Code {
	if status == Stopped && call == CallRecover && denied {
		return ApprovalDenied
	}
	code, ok := permits[status][call]
	if !ok {
		return SessionStopped
	}
	return code
}
