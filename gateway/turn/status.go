package turn

// Status is what a session is doing. Each says how it is entered, how it is
// left, and what a crash of the gateway leaves.
type Status string

const (
	// AwaitingApproval: a start that a person must allow first. Entered by
	// Start; left by Approve, Deny or Stop. A crash leaves it as it is.
	AwaitingApproval Status = "awaiting_approval"
	// Starting: a run is recorded and its process is on the way. Entered by
	// Start, Approve and Continue; left when the process says hello, asks its
	// first question, or fails. A crash leaves it; the start-up pass finds the
	// shim alive and goes on, or closes the run.
	Starting Status = "starting"
	// Running: Claude Code works and nobody has to act. Entered by Attach,
	// Settle and Conclude; left by Offer or by the end of the run. A crash
	// leaves it; as Starting.
	Running Status = "running"
	// WaitingForGPT: a turn is published and waits for its one reply. Entered
	// by Offer; left by Answer, Conclude or the end of the run. A crash leaves
	// it: the turn is in the ledger and the shim still holds the request.
	WaitingForGPT Status = "waiting_for_gpt"
	// Executing: a reply authorised actions, and not all have their receipts.
	// Entered by Answer; left by Settle, Offer or the end of the run. A crash
	// leaves it; a begun action without a receipt becomes interrupted.
	Executing Status = "executing"
	// Idle: the last run ended with a result. Entered by Complete and, after a
	// stop, an expiry or a loss, by Recover; left by Continue, Stop, Expire. A
	// crash leaves it as it is.
	Idle Status = "idle"
	// Failed: the last run ended without a result; its code says why. Entered
	// by Fail; left like Idle. A crash leaves it as it is.
	Failed Status = "failed"
	// Stopping: somebody asked for the end and the run is being ended. Entered
	// by Stop; left by Halt. A crash leaves it; the start-up pass ends the run.
	Stopping Status = "stopping"
	// Stopped: nothing runs until somebody recovers the session. Entered by
	// Halt and Deny; left by Recover. A crash leaves it as it is.
	Stopped Status = "stopped"
	// LeaseExpired: nobody answered in time; the run was ended and everything
	// stays to be looked at. Entered by Expire; left by Recover and Stop. A
	// crash leaves it; the start-up pass ends what still runs.
	LeaseExpired Status = "lease_expired"
	// RecoveryRequired: the run's process is gone and its outcome unknown.
	// Entered by Lose; left by Recover and Stop. A crash leaves it as it is.
	RecoveryRequired Status = "recovery_required"
)

// Statuses lists every status in the order of a session's life.
func Statuses() []Status {
	return []Status{AwaitingApproval, Starting, Running, WaitingForGPT, Executing,
		Idle, Failed, Stopping, Stopped, LeaseExpired, RecoveryRequired}
}

// Live reports whether a run may exist in this status that the gateway has to
// look after and that counts against the limit of live sessions.
func (s Status) Live() bool {
	switch s {
	case Starting, Running, WaitingForGPT, Executing, Stopping:
		return true
	}
	return false
}

// Ended reports whether the session's last run, if it had one, has ended or is
// being ended, and nobody has to look at it before the session may go.
func (s Status) Ended() bool {
	switch s {
	case Idle, Failed, Stopped, LeaseExpired:
		return true
	}
	return false
}

// HolderCanAct reports whether waiting for a change is pointless because the
// holder of the lease is the one to act next.
func (s Status) HolderCanAct() bool {
	switch s {
	case WaitingForGPT, Idle, Failed, Stopped, LeaseExpired, RecoveryRequired:
		return true
	}
	return false
}
