// Package session is the engine: it takes each session through start, turns,
// actions and the end, and settles what a crash left.
//
// # The seven steps of a turn
//
//  1. record: the shim offers a model request; the ledger stores it as a turn.
//  2. publish: whoever waits on the session wakes and sees the pending turn.
//  3. check: a reply is checked whole; one bad call refuses it and nothing runs.
//  4. authorise: reply and actions become durable in one transaction.
//  5. release: the shim gets the reply and streams it to Claude Code.
//  6. execute: each call that comes back is begun in the ledger, run by the
//     executor with the ledger's arguments, and finished with its receipt.
//  7. settle: when every action has its receipt, the next request is a turn.
//
// # Who owns what
//
// The ledger owns the truth; the engine keeps nothing that a restart would
// miss. One goroutine, a live, owns each run that has not ended: offers, calls
// and the end of that run pass through its mailbox one after another, so a
// transaction and the list of actions under way never disagree. Calls of the
// control plane that need no run (status, recover, an idle stop) go to the
// ledger alone. A call only waits on work that the engine owns: a caller that
// goes away loses nothing.
//
// Locks: Engine.mu guards the map of lives and is held for map operations
// only, never while a mailbox or the ledger is used.
//
// Not covered: wire formats of the control plane (package control), what a
// tool does (package executor), how a process is confined (package sandbox).
package session
