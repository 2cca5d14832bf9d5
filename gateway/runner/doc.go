// Package runner is the gateway's side of a run's process: it lays out the run
// directory, starts the shim, and tells from the file system how the run
// stands, also for a gateway that did not start it.
//
// A run directory, <Runs>/<run id>/, all 0700 and 0600:
//
//	plan.json   everything the shim needs, the run's token and the prompt
//	            among it; the shim deletes it as soon as it has read it
//	lock        held by the shim for life; a free lock means no shim
//	exit.json   how the run ended, written by rename
//	mcp.json    Claude Code's list of tool servers; holds no secret
//	cwd/        Claude Code's empty working directory
//	path/       its PATH, empty
//	shim.log, stdout.log, stderr.log   bounded; the first two hold no contents
//
// A session's home, <Homes>/<short name>/, is kept between its runs: home/,
// config/ and tmp/, with Claude Code's transcript in config/.
//
// Contract:
//   - Start hands the held lock over to the shim: a run that was started is
//     never seen without a holder before its shim has ended.
//   - The shim is a leader of a process session of its own, has its input and
//     output in files, inherits nothing of the environment, and outlives the
//     gateway.
//   - Secrets are in no argument and in no file that Claude Code can see but
//     its own token, which opens the shim's port and nothing else.
//   - Command is pure, and holds the exact command line and environment that
//     Claude Code was measured with.
//
// Not covered: what the shim does (package shim), what the sandbox allows
// (package sandbox), and when to start or remove a run (package session).
package runner
