// Package admin is how the command line and the menu talk to a running
// gateway: HTTP with JSON bodies over a unix socket of its own.
//
// Contract:
//   - The socket is 0600 in a 0700 directory, the peer's uid must be ours, and
//     every request carries the bearer token of a 0600 file. Any of the three
//     missing is a refusal.
//   - A refused request changes nothing, and its body is not read.
//   - Errors are the codes of package turn as JSON; Client gives them back as
//     *turn.Refusal. That no gateway listens is ErrNotRunning.
//   - A request is never answered later than PollTimeout; "nothing new" is an
//     answer.
//   - Answers to Inspect hold neither lease nor recovery token. RecoveryToken
//     and Token hold nothing but the secret that was asked for.
//
// Whoever can use this socket can do what the user can: stop sessions, take
// them over, read the token of the local listener. So a command in a sandbox
// must never reach it. Two things stand in its way, each enough by itself: the
// directory of socket and token is not visible inside a sandbox, and no socket
// of the unix family can be made there. The check of the uid is no third one: it
// keeps other users out, and a sandbox runs as this one. Programs of the same
// user outside a sandbox are trusted.
//
// Not covered: the socket of the shims (package link), which has other callers
// and another token; and what the calls mean (package session).
package admin
