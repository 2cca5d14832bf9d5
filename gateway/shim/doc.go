// Package shim is the small process between the gateway and one Claude Code.
// It starts Claude Code in its sandbox, serves it the Messages API and the tool
// server on the sandbox's one port (package bridge), and is the client of the
// gateway over a unix socket (package link). The gateway can go away and come
// back while a turn is parked or a tool call under way: Claude Code's
// connections end here, and notice nothing.
//
// A shim's life, in order:
//  1. It takes the run's lock, which it holds until it ends, and reads and
//     deletes the plan.
//  2. It says hello. A gateway that has settled the run, or does not know the
//     token, or does not speak the protocol, ends it here.
//  3. It starts Claude Code in the sandbox, gives it the prompt on standard
//     input, and serves its port.
//  4. It waits for the first of: Claude Code ends; the gateway says End, or
//     refuses as in step 2; the lease it last heard of passes; Claude Code
//     asks nothing for two minutes; its own context ends. In all but the first it ends Claude Code: SIGTERM, a grace, then
//     SIGKILL of everything in the sandbox.
//  5. It writes the exit record, by rename, and tries for a while to tell the
//     gateway, which finds the record anyway.
//
// Contract:
//   - When Main returns, nothing that it started runs, and the exit record is
//     written, unless the run directory was gone.
//   - The lease is compared in wall time. After a sleep of the machine the
//     gateway gets two minutes to send a newer one.
//   - Memory is bounded: of Claude Code's output only the kinds of lines, and
//     the members of the first and last line that the exit record needs, are
//     kept.
//   - Contents and secrets reach no log.
//
// A shim that is killed takes the sandbox with it, and is never started again:
// the gateway closes the run.
package shim
