package demo

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"deckhand/app/demo/process"
)

// adoptOrphans makes this process the parent of whatever its children leave
// behind, so that a killed gateway's children can still be found.
func adoptOrphans() (release func(), err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the parent of orphans: %w", err)
	}
	return func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }, nil
}

// leftover lists the live processes below this one. Orphans that have ended are
// collected on the way; the gateway must have been collected before.
func leftover(string) ([]process.Process, error) {
	all, err := process.List()
	if err != nil {
		return nil, err
	}
	below := process.Below(all, os.Getpid())
	for _, p := range below {
		if p.Ended && p.Parent == os.Getpid() {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(p.PID, &status, syscall.WNOHANG, nil)
		}
	}
	return alive(below), nil
}
