package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"deckhand/gateway/turn"
)

// sessionPattern is what a session's id may look like: it becomes part of file
// names, of a branch and of a lock's reason.
var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{7,79}$`)

// holdPatience is how long a call waits for another one on the same worktree.
const holdPatience = 30 * time.Second

// hold keeps every other call on the session's worktree out, in this process
// and in others, until release is called and all calls of git that were given
// the file have ended: a git that outlives a crash of the gateway is waited for.
func (k *Keeper) hold(ctx context.Context, session turn.SessionID) (held *os.File, release func(), err error) {
	if !sessionPattern.MatchString(string(session)) {
		return nil, nil, turn.Refuse(turn.InvalidArguments, "that is not the id of a session")
	}
	dir := filepath.Join(k.scratch, "held")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("hold worktree: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, string(session)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("hold worktree: %w", err)
	}
	patience := time.NewTimer(holdPatience)
	defer patience.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, nil, fmt.Errorf("hold worktree: %w", err)
		}
		select {
		case <-again.C:
		case <-patience.C:
			f.Close()
			return nil, nil, turn.Refuse(turn.WorktreeBusy, "another call is working on this worktree; try again")
		case <-ctx.Done():
			f.Close()
			return nil, nil, context.Cause(ctx)
		}
	}
}
