// Package turn holds the nouns of Deckhand and the rules between them: ids,
// session statuses, the verbs that move a session from one status to the next,
// what each call may do in each status, leases, actions, receipts and refusals.
//
// The package is pure: no I/O, no clock reads, no goroutines. Everything that
// decides is a table or a function of its arguments, so the rules can be read
// and tested apart from the store (package ledger) and from the engine
// (package session), which both follow them and add none of their own.
//
// Contract:
//   - A status changes only by a Verb through Next; there is no other way.
//   - What a caller may ask for in a status is decided by Permit.
//   - Values of Status, Verb, Outcome, ActionState and Code are stored on disk
//     and sent over the wire: they are strings, are never renamed, and the
//     sets only grow.
package turn
