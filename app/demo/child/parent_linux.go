package child

import "syscall"

// endWithParent lets the process end in order when ours is killed and can do
// nothing for it any more. The kernel goes by the thread that starts the
// process; the runtime ends none that a goroutine does not end while locked.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
