package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// skipReason is why a search did not look at something.
type skipReason uint8

const (
	notSkipped skipReason = iota
	skipSymlink
	skipHardLink
	skipProtected
	skipGit
	skipUnreadable
	skipFileSystem
	skipSpecial
	skipVanished
	skipBinary
	skipTooLarge
	skipCloud
	skipReasons // how many there are
)

// skipNouns says what is counted, in the order of the summary.
var skipNouns = [skipReasons]string{
	skipSymlink:    "symbolic link",
	skipHardLink:   "hard-linked file",
	skipProtected:  "protected path",
	skipGit:        ".git entry",
	skipUnreadable: "unreadable path",
	skipFileSystem: "folder on another file system (network, FUSE or kernel)",
	skipSpecial:    "device, FIFO or socket",
	skipVanished:   "path that vanished or changed meanwhile",
	skipBinary:     "binary file",
	skipTooLarge:   "file over 256 MiB",
	skipCloud:      "file in the cloud only",
}

// skipPlurals are the plurals that count would get wrong.
var skipPlurals = map[skipReason]string{
	skipFileSystem: "folders on other file systems (network, FUSE or kernel)",
	skipSpecial:    "devices, FIFOs or sockets",
	skipVanished:   "paths that vanished or changed meanwhile",
	skipTooLarge:   "files over 256 MiB",
	skipCloud:      "files in the cloud only",
}

// skips counts what was skipped, by reason.
type skips [skipReasons]int64

func (s *skips) add(more *skips) {
	for i, n := range more {
		s[i] += n
	}
}

// String writes the line that ends every answer of a search.
func (s *skips) String() string {
	var parts []string
	for i, n := range s {
		switch plural, odd := skipPlurals[skipReason(i)]; {
		case n == 0 || skipReason(i) == notSkipped:
		case n > 1 && odd:
			parts = append(parts, digits(n)+" "+plural)
		default:
			parts = append(parts, count(n, skipNouns[i]))
		}
	}
	if len(parts) == 0 {
		return "skipped: nothing"
	}
	return fmt.Sprintf("skipped: %s", strings.Join(parts, ", "))
}

// skipFor says why something could not be opened during a search.
func skipFor(err error) skipReason {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ESTALE), errors.Is(err, unix.EXDEV):
		return skipVanished
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return skipSpecial
	}
	return skipUnreadable
}
