// Package rig builds the real binary and runs gateways of it for tests: each
// with a home and state of its own, in a directory that is gone afterwards.
//
// Contract:
//   - Program builds once a test process, with the race detector if the test
//     has it. Sweep removes what was built.
//   - Every Gateway ends with its test: sessions are stopped, the gateway is
//     asked to end, and what still runs or lies about then is an error of the
//     test.
//   - Claude Code is the real one; DECKHAND_TEST_CLAUDE names it.
package rig
