package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFD is the descriptor by which Start hands the lock over.
const lockFD = 3

// ErrLocked: another process holds the run's lock.
var ErrLocked = errors.New("the run has a shim already")

// Lock is a held run lock. It is held until Release, or until the process has
// ended. The file is never unlinked while it may be held: a second file of the
// same name would have a second lock.
type Lock struct{ file *os.File }

// TakeLock takes the lock of a run directory for a shim: the one that Start
// handed over, or, for a shim that was started otherwise, a new one.
func TakeLock(dir Dir) (*Lock, error) {
	if file, err := handedOver(dir); err != nil || file != nil {
		return &Lock{file}, err
	}
	return acquire(dir)
}

// handedOver returns the lock file if descriptor 3 is it.
func handedOver(dir Dir) (*os.File, error) {
	var have, want unix.Stat_t
	if unix.Fstat(lockFD, &have) != nil || unix.Stat(dir.file(lockName), &want) != nil {
		return nil, nil
	}
	if have.Dev != want.Dev || have.Ino != want.Ino {
		return nil, nil
	}
	// What this process starts must not keep the lock alive.
	unix.CloseOnExec(lockFD)
	file := os.NewFile(lockFD, dir.file(lockName))
	// The holder's own lock is granted again; anybody else's is not.
	if err := flock(file, unix.LOCK_EX); err != nil {
		return nil, err
	}
	return file, nil
}

// acquire makes the lock file and takes its lock.
func acquire(dir Dir) (*Lock, error) {
	file, err := os.OpenFile(dir.file(lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open run lock: %w", err)
	}
	// Who asks whether the lock is held holds it for a moment: a second try
	// tells that from a shim.
	err = flock(file, unix.LOCK_EX)
	for range 10 {
		if !errors.Is(err, ErrLocked) {
			break
		}
		time.Sleep(5 * time.Millisecond)
		err = flock(file, unix.LOCK_EX)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Lock{file}, nil
}

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return fmt.Errorf("lock run: %w", err)
		}
	}
}

// Release gives the lock up.
func (l *Lock) Release() error { return l.file.Close() }

// isLocked reports whether somebody holds the lock of a run directory.
func isLocked(dir Dir) (bool, error) {
	file, err := os.OpenFile(dir.file(lockName), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open run lock: %w", err)
	}
	defer file.Close()
	// A shared lock, so that two who ask do not see each other.
	switch err := flock(file, unix.LOCK_SH); {
	case errors.Is(err, ErrLocked):
		return true, nil
	default:
		return false, err
	}
}
