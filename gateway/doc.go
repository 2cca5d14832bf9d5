// Package gateway builds every subsystem from one Config, owns their
// lifetimes and serves their listeners. It is the only package that knows them
// all; none of them knows it.
//
// State lives below Config.StateDir, everything of it 0700 or 0600:
//
//	private/key           the key of recovery and run tokens
//	private/local-token   the bearer token of the local listener
//	private/admin-token   the bearer token of the admin socket
//	private/admin.sock    the admin socket
//	private/shim.sock     the shims' socket
//	private/ledger/       the ledger and its bodies
//	private/runs/         one directory for each run that has not been settled
//	private/homes/        one home of Claude Code for each session
//	private/git/          what the gateway's own calls of git need
//
// Worktrees live outside it, in Config.WorktreeRoot: sessions work in them.
//
// Order of life: the ledger is opened first, because its lock says that no
// other gateway is here; then what the last gateway left is settled; then the
// listeners are bound, and requests are served. The end is the reverse:
// waits end, listeners close, the engine lands what it was doing, the ledger
// closes. Runs outlive it: their shims wait for the next gateway.
package gateway
