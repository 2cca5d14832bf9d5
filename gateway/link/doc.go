// Package link is the protocol between a shim and the gateway: HTTP with JSON
// bodies over a unix socket, the shim being the client.
//
// Contract:
//   - Every request carries the run's id and the run's own token; the socket is
//     0600 in a 0700 directory and the server also checks the peer's uid.
//   - Every request may be repeated: it names what it is about by ids and
//     digests, and the answer to a repeat is the answer to the first.
//   - Long requests (Offer, Call, Watch) are answered within PollTimeout; "not
//     yet" is an answer, and the client asks again.
//   - A server speaks Version and the version before it.
//
// Not covered: what the gateway does with a request (package session) and when
// the shim makes one (package shim).
package link
