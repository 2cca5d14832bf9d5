// Package process looks at the machine's process table: the demo and the
// end-to-end tests use it to show that nothing is left behind, and that a
// process before a crash is the same one after it.
//
// Contract: a Process is what was true when List read it. Processes that end
// while List reads are left out. Started tells two processes with one pid
// apart; it has no meaning beyond being equal or not.
//
// Not covered: ending processes, and anything that the product itself relies
// on. The gateway knows its runs by the locks that they hold.
package process
