//go:build crashtest

package crash

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// crashAt is what DECKHAND_CRASH_AT says: a Point, or "point:n" for the nth
// time that it is reached.
var crashAt, crashAfter = func() (Point, int64) {
	name, nth, _ := strings.Cut(os.Getenv("DECKHAND_CRASH_AT"), ":")
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	return Point(name), n
}()

var crashReached atomic.Int64

// At kills this process, without any chance to clean up, at the point that
// DECKHAND_CRASH_AT names.
func At(at Point) {
	if at == crashAt && crashReached.Add(1) == crashAfter {
		_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
		select {}
	}
}
