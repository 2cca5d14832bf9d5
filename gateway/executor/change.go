package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deckhand/gateway/crash"
	"deckhand/gateway/turn"
)

// change is one write under way: the lock of its path is held and its folder
// is open. What it does to the disk is in one order, for every kind of write:
// prepare, make folders, write beside, compare, swap, sync.
type change struct {
	e    *Executor
	sink Sink
	p    *place
	was  *original

	// What of it has happened, for taking it back.
	made []string // folders
	temp string   // the name of the temporary file, while there is one
}

// proposal is what a tool wants to do to a file.
type proposal struct {
	// remove wants the file gone; else content is what it is to hold.
	remove  bool
	content newContent
	// mode is that of a file that is made anew, 0 for the usual one.
	mode uint32
	// folders are those that go with a removed file if they are empty.
	folders []string
	notes   []string
	// nothing says that the file is already as wanted, and why.
	nothing string
	// say writes the answer once it is done.
	say func(turn.WriteIntent) string
}

// plan decides what to do to a file as it is. Errors are *turn.Refusal.
type plan func(was *original) (proposal, error)

// target is a file that a write is about.
type target struct {
	root, real, asked string
	limit             int64 // in bytes
}

// write runs one write from the lock to the answer.
func (e *Executor) write(ctx context.Context, t target, sink Sink, decide plan) turn.Result {
	if sink.Prepare == nil || !validTemp(tempName(sink.Action)) {
		return turn.Failure(turn.InternalError, "The write has no record to be kept in, so it was not begun.")
	}
	unlock, err := e.locks.lock(ctx, t.real)
	if err != nil {
		return cancelled()
	}
	defer unlock()
	p, err := enter(e.protected.View(), t.root, t.real, t.asked)
	if err != nil {
		return refused(err)
	}
	defer p.close()
	if err := p.spelling(); err != nil {
		return refused(err)
	}
	c := &change{e: e, sink: sink, p: p}
	if c.was, err = p.original(ctx, e.disk, t.limit, true, sink.Progress); err != nil {
		return refused(err)
	}
	defer c.was.sum.wait() // whoever needs it or not
	if err := p.creatable(); err != nil {
		return refused(err)
	}
	wanted, err := decide(c.was)
	if err != nil {
		return refused(err)
	}
	if wanted.nothing != "" {
		return turn.Result{Outcome: turn.OK, Text: wanted.nothing}
	}
	return c.run(ctx, wanted)
}

// refused makes the result of an error before anything was done.
func refused(err error) turn.Result {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cancelled()
	}
	return result(err)
}

func cancelled() turn.Result {
	return turn.Result{Outcome: turn.OutcomeCancelled, Code: turn.CancelledCode, Text: "It was stopped before anything was written."}
}

// tempName names the temporary file of an action; only that action removes it.
func tempName(a turn.ActionID) string { return tempPrefix + string(a) + tempSuffix }

const (
	tempPrefix = ".deckhand-"
	tempSuffix = ".tmp"
)

// validTemp reports whether name is one that tempName makes.
func validTemp(name string) bool {
	id, ok := strings.CutPrefix(name, tempPrefix)
	id, ok2 := strings.CutSuffix(id, tempSuffix)
	return ok && ok2 && id != "" && len(name) <= maxName && !strings.ContainsAny(id, "/\x00")
}

// intent is what the change is about to do.
func (c *change) intent(wanted proposal) turn.WriteIntent {
	w := turn.WriteIntent{
		Path: c.p.path(), Temp: below(c.p.folder(), tempName(c.sink.Action)), Before: c.was.state(),
	}
	if len(c.p.missing) == 0 {
		w.Parent = turn.FileIdentity{Device: c.p.info.dev, Inode: c.p.info.ino}
	}
	at := c.p.at
	for _, name := range c.p.missing {
		at = below(at, name)
		w.MadeDirs = append(w.MadeDirs, at)
	}
	if wanted.remove {
		w.MadeDirs = wanted.folders
		return w
	}
	w.After = turn.FileState{Exists: true, SHA256: wanted.content.sha256(c.was), Bytes: wanted.content.size(), Mode: newMode(wanted)}
	if c.was.exists {
		w.After.Mode = c.was.attr.mode
	}
	return w
}

// newMode is the mode of a file that is made anew.
func newMode(wanted proposal) uint32 {
	if wanted.mode != 0 {
		return wanted.mode
	}
	return 0o666 &^ umask
}

// run does it.
func (c *change) run(ctx context.Context, wanted proposal) turn.Result {
	d := c.e.disk
	w := c.intent(wanted)
	d.reach(crash.BeforePrepare)
	if ctx.Err() != nil {
		return cancelled()
	}
	if err := c.sink.Prepare(w, c.was.content); err != nil {
		f := explainDisk(err)
		if f.code == turn.IOError || f.code == turn.NotFound {
			f = fault{turn.InternalError, "the record of it could not be stored"}
		}
		return turn.Failure(f.code, fmt.Sprintf("%s was not written: before a change it is recorded durably, and that failed: %s. The file is unchanged.", showName(c.p.asked), f.words))
	}
	d.reach(crash.AfterPrepare)
	if !wanted.remove {
		if err := c.writeBeside(ctx, wanted); err != nil {
			return c.takeBack(ctx, err)
		}
		d.reach(crash.TempSynced)
	}
	if err := c.compare(ctx); err != nil {
		return c.takeBack(ctx, err)
	}
	// From here on it is done or not, and a stop comes too late.
	if err := c.swap(wanted); err != nil {
		if c.unchanged() {
			return c.takeBack(context.WithoutCancel(ctx), err)
		}
		return c.unsure(err)
	}
	c.temp = ""
	d.reach(crash.AfterRename)
	if err := d.syncDir(c.p.dir); err != nil {
		return c.unsure(err)
	}
	if wanted.remove {
		removeMade(d, c.p.view, wanted.folders)
	}
	d.reach(crash.BeforeReceipt)
	return turn.Result{Outcome: turn.OK, Text: wanted.say(w), Write: w.Mark(wanted.notes...)}
}

// writeBeside writes the new content, durably, to a temporary file beside the
// file, and gives it what the original has besides content.
func (c *change) writeBeside(ctx context.Context, wanted proposal) (err error) {
	d := c.e.disk
	if c.made, err = c.p.make(d); err != nil {
		return err
	}
	name := tempName(c.sink.Action)
	mode := uint32(0o600)
	if !c.was.exists {
		mode = 0o666 // less the umask, by the kernel
	}
	c.temp = name // also if making it fails half-way
	fd, err := d.create(c.p.dir, name, mode)
	if errors.Is(err, unix.EEXIST) {
		// Left by an earlier attempt of the same action.
		if err := d.remove(c.p.dir, name); err != nil {
			return err
		}
		fd, err = d.create(c.p.dir, name, mode)
	}
	if err != nil {
		return err
	}
	defer func() {
		if closed := unix.Close(fd); err == nil {
			err = closed
		}
	}()
	for _, piece := range wanted.content.pieces() {
		if err := writeAll(ctx, d, fd, piece); err != nil {
			return err
		}
	}
	switch {
	case c.was.exists:
		err = d.dress(fd, c.was.attr)
	case wanted.mode != 0:
		err = retry(func() error { return unix.Fchmod(fd, wanted.mode) })
	}
	if err != nil {
		return err
	}
	return d.syncFile(fd)
}

// writePiece is how much of a file is written at a time, in bytes.
const writePiece = 4 << 20

func writeAll(ctx context.Context, d disk, fd int, b []byte) error {
	for len(b) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := d.write(fd, b[:min(len(b), writePiece)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// swap is the one step by which the file changes.
func (c *change) swap(wanted proposal) error {
	d := c.e.disk
	switch {
	case wanted.remove:
		return d.remove(c.p.dir, c.p.name)
	case c.was.exists:
		return d.replace(c.p.dir, c.temp, c.p.name)
	}
	return d.place(c.p.dir, c.temp, c.p.name)
}

// unchanged reports whether it is certain that a swap that failed did nothing.
func (c *change) unchanged() bool {
	if c.temp != "" {
		if _, err := statIn(c.p.dir, c.temp); err != nil {
			return false
		}
	}
	info, err := statIn(c.p.dir, c.p.name)
	if !c.was.exists {
		if c.temp == "" || !errors.Is(err, unix.ENOENT) && err != nil {
			return false
		}
		// Whatever stands there by now is not the temporary file, which has one
		// name and still exists.
		temp, terr := statIn(c.p.dir, c.temp)
		return terr == nil && temp.links == 1 && (err != nil || info.ino != temp.ino)
	}
	return err == nil && info.dev == c.was.info.dev && info.ino == c.was.info.ino
}

// takeBack removes what a failed write left beside the file, and says why.
func (c *change) takeBack(ctx context.Context, cause error) turn.Result {
	left := ""
	if c.temp != "" {
		if err := c.e.disk.remove(c.p.dir, c.temp); err != nil && !errors.Is(err, unix.ENOENT) {
			left = fmt.Sprintf(" The temporary file %s could not be removed.", showName(below(c.p.at, c.temp)))
		}
		c.temp = ""
	}
	removeMade(c.e.disk, c.p.view, c.made)
	name := showName(c.p.asked)
	switch r, isRefusal := errors.AsType[*turn.Refusal](cause); {
	case errors.Is(cause, errChanged), errors.Is(cause, unix.EEXIST):
		return turn.Failure(turn.FileChanged, fmt.Sprintf("%s was not written: somebody else changed it meanwhile. %s.%s", name, c.now(ctx), left))
	case isRefusal:
		return turn.Failure(r.Code, r.Detail+left)
	case ctx.Err() != nil:
		r := cancelled()
		r.Text += left
		return r
	}
	f := explainDisk(cause)
	words := f.words
	if what, _, ok := strings.Cut(cause.Error(), ": "); ok && strings.HasPrefix(what, "keep ") {
		words = "it cannot be replaced with all it has; to " + what + " failed: " + words
	}
	return turn.Failure(f.code, fmt.Sprintf("%s was not written: %s. The file is unchanged.%s", name, words, left))
}

// now says what the file is, for a caller who wants to try again.
func (c *change) now(ctx context.Context) string {
	if c.p.moved() {
		return "The folder that it lay in was moved or replaced"
	}
	o, err := c.p.original(ctx, c.e.disk, maxWrite, false, func(int64) {})
	switch {
	case err != nil:
		return "It cannot be read now"
	case !o.exists:
		return "It does not exist now"
	}
	return fmt.Sprintf("It has %s now, SHA-256 %s; read it again", count(int64(len(o.content)), "byte"), o.sha256())
}

// unsure leaves everything to Settle: nobody can tell yet what is durable.
func (c *change) unsure(cause error) turn.Result {
	return turn.Result{Outcome: turn.OutcomeInterrupted, Code: turn.InterruptedCode, Text: fmt.Sprintf(
		"%s may have been written or not: the last step failed (%s). The file itself will decide.", showName(c.p.asked), explainDisk(cause).words)}
}

// describe is the first line of the answer of a write.
func describe(w turn.WriteIntent, what string) string {
	s := fmt.Sprintf("%s %s: %s, SHA-256 %s", what, showName(w.Path), count(w.After.Bytes, "byte"), w.After.SHA256)
	if w.Before.Exists {
		s += fmt.Sprintf(" (before: %s, SHA-256 %s)", count(w.Before.Bytes, "byte"), w.Before.SHA256)
	}
	return s + "."
}

// notesText is how the notes of a write stand in its answer.
func notesText(notes []string) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString("\nNote: " + n + ".")
	}
	return b.String()
}

// targetOf finds the file that a write of a session is about.
func (e *Executor) targetOf(scope Scope, path string, limit int64) (target, error) {
	if !filepath.IsAbs(scope.Root) {
		return target{}, turn.Refuse(turn.OutsideWriteRoot, "this session has no folder in which it writes")
	}
	real, err := e.aim(e.protected.View(), scope, path)
	return target{root: scope.Root, real: real, asked: scope.absolute(path), limit: limit}, err
}
