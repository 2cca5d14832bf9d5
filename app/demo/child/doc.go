// Package child runs the gateway as a process of its own, for the demo and for
// the end-to-end tests: start, kill, start again, stop.
//
// Contract:
//   - The process gets a state directory, a home and an environment made from
//     nothing: variables of the caller's, DECKHAND_* among them, do not count.
//   - Start returns when the gateway said where it listens. A second start uses
//     the same address, as a client that only knows the address needs.
//   - Stop and Kill return when the process has ended and was collected.
//   - On Linux the process is asked to end when the caller's is killed.
//   - Methods are for one goroutine at a time.
//
// Not covered: the runs. They outlive a killed gateway on purpose; end the
// sessions first.
package child
