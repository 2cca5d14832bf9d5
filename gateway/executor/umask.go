//go:build linux || darwin

package executor

import "golang.org/x/sys/unix"

// umask is what this process takes from the mode of new files. The system only
// tells it to who sets it, so it is asked for before anything else runs; the
// program does not change it later.
var umask = func() uint32 {
	old := unix.Umask(0o077)
	unix.Umask(old)
	return uint32(old)
}()
