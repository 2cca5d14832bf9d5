// Package ledger is the durable record of every session, run, turn, action and
// receipt. It is the only writer of truth: what it says happened, happened, and
// nothing is shown or released before it is here.
//
// # Form
//
// One bbolt file with one writer. bbolt's file lock, opened with a timeout, is
// the single-instance lock of the gateway. Values are JSON records that carry a
// version ("v"); a record of a newer version is refused, never guessed at.
// Buckets:
//
//	meta      "format" → the version of this layout, "switches" → turn.Switches
//	sessions  session id → SessionRecord
//	runs      run id → RunRecord
//	turns     turn id → TurnRecord
//	actions   action id → ActionRecord
//	tooluses  tool_use id → action id
//	keys      scope \x00 key → KeyRecord (idempotency)
//	open      session id → run id, for each run that has not ended
//	due       end (ns) + session id → nothing, for each lease and approval that ends
//	writes    session id + number → action id, for each write that changed a file
//	undoing   action id → nothing, for each undo without a receipt
//	trusted   profile \x00 folder → time, for each folder a person allowed
//	events    sequence → turn.Event
//
// Bodies of more than 2 KiB are files named by their SHA-256 in a folder beside
// the database, synced before the transaction that names them. The same content
// is one file, whoever names it. Files that no record names are removed by Sweep,
// when the gateway starts and after records have gone; it excludes the verbs that
// are about to name one. The folder is made after the database, so that an empty
// database beside it is damage and not a beginning.
//
// # What goes
//
// Forget drops the content from before old writes, which then cannot be undone.
// Prune removes one session with all of its records, keys and events, in one
// transaction; one event stays. Nothing else is ever removed. The database does
// not get smaller by it: its pages are used again.
//
// # Writing
//
// There are verbs and no setters. A verb is one transaction: it reads what it
// depends on, checks its precondition, moves the session by turn.Next, and
// writes records and events together; else nothing changes and an error says
// why. A *turn.Refusal is the caller's to hear; ErrRunSettled, ErrRunOpen and
// ErrActionOpen tell the engine what to do first; anything else is a fault. A
// full disk is a refusal, no_space.
//
// # Invariants
//
// Check verifies them; tests run it after every scenario.
//
//   - A session's revision MUST grow with each change, its epoch with each
//     rotation; neither ever falls.
//   - A settled run MUST NOT get a turn, and a session MUST NOT have two runs
//     that have not ended.
//   - A turn is pending exactly if its session waits for it.
//   - An action belongs to one turn and one tool_use id. It has a receipt
//     exactly if it is finished, and a receipt never changes.
//   - A session whose worktree is retired MUST NOT have an open run.
//   - A session executes exactly while an action of its last turn lacks its
//     receipt.
//   - The content from before a write is kept until the write has its receipt and
//     its run has ended, and is what the file held; from the moment it is dropped
//     the write MUST NOT be undone.
//   - Every record belongs to a session that is there, with its run, turn and
//     action, and every entry of an index leads to one.
//   - Every body that a record names exists and has the hash and the size that
//     the record says.
//
// # What a crash leaves
//
//	killed before                  what is found                       what follows
//	a turn's commit                the request is unknown              the shim offers it again
//	a reply's commit               the turn is pending                 the reply comes again, or another
//	a reply's release              turn answered, actions authorised   the shim asks again and gets the reply
//	an action's begin              authorised                          Claude Code's call comes again and begins it
//	an action's receipt            begun                               interrupted: a read begins again when asked
//	                                                                   again, and so does a write whose file is
//	                                                                   as before; a write that the file shows
//	                                                                   done gets its receipt; one that nobody
//	                                                                   can tell ends the session
//	a receipt's delivery           finished                            the repeat gets the same receipt
//	a worktree's removal           retired, not removed                no run begins; the removal is asked for
//	                                                                   again
//	the files of dropped bodies    files that nobody names             the next Sweep removes them
//	the end of a run               the run is open                     the start-up pass settles it
//
// Not covered: who may call (package session checks the recovery token), what
// an action does (package executor), and copies of the file made by others.
package ledger
