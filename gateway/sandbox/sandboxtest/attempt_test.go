package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// attempt is one row of the table.
type attempt struct {
	id, what string
	// try is made by the confined process. nil means that it got through.
	try func(*ground) error
	// want is how try has to fail; nil for what has to work.
	want want
	// left, if not nil, is asked on the host after the run: an error says what
	// the attempt did there. Inside it may look as if it had worked.
	left func(*ground) error
	// free says how the same goes where nothing holds it.
	free free
	// why is required for every other free than through.
	why string
	// alone gives it a sandbox to itself, because others would suffer.
	alone bool
}

// free is what an attempt without a sandbox proves.
type free int

const (
	// through: it succeeds, for everybody.
	through free = iota
	// rootThrough: it succeeds for root; others are kept from it anyway.
	rootThrough
	// maybe: that depends on the machine. It may not fail as inside, though.
	maybe
	// never: it is not made, as it would harm the machine, or is meaningless.
	never
)

// want is how an attempt has to fail, by system. On a system that it does not
// name any failure will do.
type want map[string]failure

type failure struct {
	errnos []syscall.Errno
	says   string // part of the error's text, where a program is asked
}

func errnos(list ...syscall.Errno) failure { return failure{errnos: list} }
func says(text string) failure             { return failure{says: text} }

// The failures that most rows have. On macOS Seatbelt says EPERM to nearly
// everything.
var (
	hidden    = want{"linux": errnos(syscall.EACCES), "darwin": errnos(syscall.EPERM)}
	readOnly  = want{"linux": errnos(syscall.EROFS), "darwin": errnos(syscall.EPERM)}
	forbidden = want{"linux": errnos(syscall.EPERM), "darwin": errnos(syscall.EPERM)}
	refused   = want{"linux": errnos(syscall.ECONNREFUSED), "darwin": errnos(syscall.EPERM)}
	noRoute   = want{"linux": errnos(syscall.ENETUNREACH), "darwin": errnos(syscall.EPERM)}
	notThere  = want{"linux": errnos(syscall.ENOENT), "darwin": errnos(syscall.EPERM, syscall.ENOENT)}
	noProcess = want{"linux": errnos(syscall.ESRCH), "darwin": errnos(syscall.EPERM, syscall.ESRCH)}
	anyhow    = want{}
)

// outcome is how an attempt went, as it comes out of the sandbox.
type outcome struct {
	ID    string `json:"id"`
	Error string `json:"error,omitempty"`
	Errno int    `json:"errno,omitempty"`
}

func (o outcome) through() bool { return o.Error == "" }

// meets reports whether it failed as w says.
func (o outcome) meets(w want) bool {
	f, named := w[runtime.GOOS]
	switch {
	case o.through():
		return false
	case !named:
		return true
	case f.says != "":
		return strings.Contains(o.Error, f.says)
	default:
		return slices.Contains(f.errnos, syscall.Errno(o.Errno))
	}
}

func (w want) String() string {
	f, named := w[runtime.GOOS]
	switch {
	case !named:
		return "any failure"
	case f.says != "":
		return fmt.Sprintf("%q", f.says)
	default:
		return fmt.Sprintf("%v", f.errnos)
	}
}

// hangs is longer than any attempt takes, also on a busy machine.
const hangs = 2 * time.Minute

// make makes the attempt on a thread of its own, which ends with it: some change
// what the kernel holds for a thread.
func (a attempt) make(g *ground) outcome {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the attempt broke: %v", r)
			}
		}()
		done <- a.try(g)
	}()
	o := outcome{ID: a.id}
	var err error
	select {
	case err = <-done:
	case <-time.After(hangs):
		err = errors.New("hangs")
	}
	if err != nil {
		o.Error = err.Error()
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			o.Errno = int(errno)
		}
	}
	return o
}

// find returns the attempts of the given ids.
func find(ids []string) []attempt {
	var list []attempt
	for _, a := range attempts {
		if slices.Contains(ids, a.id) {
			list = append(list, a)
		}
	}
	return list
}

// What most attempts do.

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func list(path string) error {
	_, err := os.ReadDir(path)
	return err
}

func create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(path))
}

// overwrite opens a file for writing, and leaves it as it is.
func overwrite(path string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return syscall.Close(fd)
}

// run runs a program; what it printed is part of the error.
func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// firstThrough returns nil if one of the tries got through, else a failure that
// is not among what is expected, else any.
func firstThrough(expected []syscall.Errno, tries ...error) error {
	if slices.Contains(tries, nil) {
		return nil
	}
	for _, err := range tries {
		if errno, ok := errors.AsType[syscall.Errno](err); !ok || !slices.Contains(expected, errno) {
			return err
		}
	}
	return tries[0]
}
