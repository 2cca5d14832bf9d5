// Package link is the protocol between a shim and the gateway: HTTP with JSON
// bodies over a unix socket, the shim being the client.
//
// Contract:
//   - Every request carries the run's id and the run's own token; the socket is
//     0600 in a 0700 directory, and both ends check the other's uid.
//   - Every request may be repeated: it names what it is about by ids and
//     digests, and the answer to a repeat is the answer to the first.
//   - Long requests (Offer, Call, Watch) are answered within PollTimeout; "not
//     yet" is an answer (204), and the client asks again.
//   - A client repeats until it is answered or its context ends: the gateway
//     may stop, crash or be replaced at any time. The first request, and the
//     first after the gateway was lost, is preceded by a Hello.
//   - Bodies are strict JSON of at most 16 MiB in both directions. A refusal
//     travels as {code, message}; RunSettled, Unauthorized and
//     UnsupportedProtocol mean that the shim must end.
//   - A server speaks Version and the version before it.
//
// Not covered: what the gateway does with a request (package session) and when
// the shim makes one (package shim).
package link
