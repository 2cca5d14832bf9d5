package command

import (
	"os"
	"runtime"
	"syscall"
)

// tryLock fails if somebody holds a lock on the file.
func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// allocated is what this process has allocated in its life, in bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
