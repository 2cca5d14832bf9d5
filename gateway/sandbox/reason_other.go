//go:build !linux && !darwin

package sandbox

import "runtime"

const unsupportedReason = "no way to confine a process on " + runtime.GOOS + ", and nothing runs unconfined"
