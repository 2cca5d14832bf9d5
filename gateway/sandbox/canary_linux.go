package sandbox

import (
	"errors"
	"os"
	"slices"
	"strings"
)

// ownCanaries are about what only Linux has.
var ownCanaries = []canary{
	{"write into the private /tmp", mustWork, func(canaryTask) error {
		f, err := os.CreateTemp("/tmp", "canary")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}},
	{"be in the host's network", mustFail, func(t canaryTask) error {
		got, err := os.Readlink("/proc/self/ns/net")
		if err == nil && got != t.HostNet {
			err = errors.New("another network namespace")
		}
		return err
	}},
}

// hostNetwork names the network namespace of this process.
func hostNetwork() (string, error) { return os.Readlink("/proc/self/ns/net") }

// findDescriptor succeeds if there is one that is not standard input, output
// or error, nor this program's own.
func findDescriptor(canaryTask) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || slices.Contains([]string{"0", "1", "2"}, e.Name()) {
			continue // the one that read the directory is closed again
		}
		if strings.HasPrefix(target, "anon_inode:[event") || strings.HasPrefix(target, "anon_inode:[pidfd]") ||
			strings.HasPrefix(target, "pidfd:") {
			continue // the Go runtime's
		}
		return nil
	}
	return errors.New("only standard input, output and error")
}
