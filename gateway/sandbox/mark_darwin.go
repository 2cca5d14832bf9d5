package sandbox

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sandbox_check of libSystem tells whether a process may do something, by the
// profile that it runs under. That is how the processes of a run are known: a
// profile is inherited, cannot be left, and this one alone allows looking up a
// service by the name of the mark.
//
//	int sandbox_check(pid_t, const char *operation, int filter, ...)
//
// It answers 0 for yes, 1 for no, and -1 if there is no such process.

//go:cgo_import_dynamic libc_sandbox_check sandbox_check "/usr/lib/libSystem.B.dylib"

// sandboxCheckAddr is set in mark_darwin.s.
var sandboxCheckAddr uintptr

// syscall9 calls a function of the C library.
//
//go:linkname syscall9 syscall.syscall9
func syscall9(fn, a1, a2, a3, a4, a5, a6, a7, a8, a9 uintptr) (r1, r2 uintptr, err unix.Errno)

const (
	filterGlobalName = 2
	checkNoReport    = 0x40000000 // no line in the system's log
)

// noService is a name that no profile allows: a process for which it is allowed
// too runs under no profile, or under one that allows every name.
const noService = "rc.none"

// bears reports whether a process runs under the profile with the mark.
func bears(pid int, mark string) bool {
	return mayLookUp(pid, mark) == 0 && mayLookUp(pid, noService) == 1
}

func mayLookUp(pid int, service string) int {
	operation, err := unix.BytePtrFromString("mach-lookup")
	if err != nil {
		return -1
	}
	name, err := unix.BytePtrFromString(service)
	if err != nil {
		return -1
	}
	// The name is a variable argument: on arm64 the first on the stack, where
	// the ninth one goes, on amd64 simply the fourth.
	r, _, _ := syscall9(sandboxCheckAddr, uintptr(pid), uintptr(unsafe.Pointer(operation)), filterGlobalName|checkNoReport,
		uintptr(unsafe.Pointer(name)), 0, 0, 0, 0, uintptr(unsafe.Pointer(name)))
	return int(int32(r))
}

// zombie is SZOMB of sys/proc.h: it ended and waits to be waited for.
const zombie = 5

// userProcesses are the processes of this user, with those that have ended.
func userProcesses() ([]unix.KinfoProc, error) {
	return unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
}

// bearers are the living processes with the mark, without one.
func bearers(mark string, except int) ([]int, error) {
	all, err := userProcesses()
	if err != nil {
		return nil, err
	}
	var found []int
	for _, p := range all {
		pid := int(p.Proc.P_pid)
		if pid > 1 && pid != except && p.Proc.P_stat != zombie && bears(pid, mark) {
			found = append(found, pid)
		}
	}
	return found, nil
}
