//go:build !linux

package child

import "syscall"

// endWithParent does nothing: this system tells no process of its parent's end.
func endWithParent(*syscall.SysProcAttr) {}
