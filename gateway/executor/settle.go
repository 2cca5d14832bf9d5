package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// Settle lets the file say what became of a write whose receipt is missing, with
// one sentence without a full stop of what was found. It makes a rename that
// happened durable and removes what this write left half done: its temporary
// file, and folders that it made, or was to remove, if they are empty.
func (e *Executor) Settle(w turn.WriteIntent) (turn.WriteState, string) {
	unlock, err := e.locks.lock(context.Background(), w.Path)
	if err != nil {
		return turn.WriteUnknown, "the file is in use"
	}
	defer unlock()
	p, err := enter(e.protected.View(), "/", w.Path, w.Path)
	if err != nil {
		return turn.WriteUnknown, "the file cannot be reached: " + reason(err)
	}
	defer p.close()
	state, found := e.settle(p, w)
	if state == turn.WriteNotDone && w.After.Exists || state == turn.WriteDone && !w.After.Exists {
		removeMade(e.disk, p.view, w.MadeDirs)
	}
	return state, found
}

func (e *Executor) settle(p *place, w turn.WriteIntent) (turn.WriteState, string) {
	if len(p.missing) > 0 {
		switch {
		case !w.After.Exists:
			return turn.WriteDone, "the file is gone with its folder, as was to be"
		case !w.Before.Exists:
			return turn.WriteNotDone, "neither the file nor its folder exists, as before"
		}
		return turn.WriteUnknown, "the folder that held the file is gone"
	}
	o, err := p.original(context.Background(), e.disk, maxWrite, false, func(int64) {})
	if err != nil {
		return turn.WriteUnknown, "the file cannot be read: " + reason(err)
	}
	now := o.state()
	done, before := same(now, w.After), same(now, w.Before)
	if before && w.Parent != (turn.FileIdentity{}) && w.Parent != (turn.FileIdentity{Device: p.info.dev, Inode: p.info.ino}) {
		return turn.WriteUnknown, "the file is as before, but its folder is another one than then"
	}
	if err := e.sweep(p, w); err != nil {
		return turn.WriteUnknown, fmt.Sprintf("what the write left beside the file, %s, cannot be removed: %s", showName(filepath.Base(w.Temp)), explainDisk(err).words)
	}
	switch {
	case done:
		if err := e.disk.syncDir(p.dir); err != nil {
			return turn.WriteUnknown, "the file is what was to be, but that cannot be made durable: " + explainDisk(err).words
		}
		if !w.After.Exists {
			return turn.WriteDone, "the file is removed, as was to be"
		}
		return turn.WriteDone, "the file has the content that was to be written"
	case before && !w.Before.Exists:
		return turn.WriteNotDone, "the file does not exist, as before"
	case before:
		return turn.WriteNotDone, "the file has the content that it had before"
	case !now.Exists:
		return turn.WriteUnknown, "the file is gone"
	}
	return turn.WriteUnknown, fmt.Sprintf("the file has %s with the SHA-256 %s, which is neither the content from before nor the one that was to be written", count(now.Bytes, "byte"), now.SHA256)
}

// same compares contents.
func same(a, b turn.FileState) bool { return a.Exists == b.Exists && a.SHA256 == b.SHA256 }

// sweep removes the temporary file of a write, and nothing else.
func (e *Executor) sweep(p *place, w turn.WriteIntent) error {
	name := filepath.Base(w.Temp)
	if !validTemp(name) || filepath.Dir(w.Temp) != p.folder() {
		return nil
	}
	info, err := statIn(p.dir, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err == nil && info.kind != regularFile {
		return unix.EEXIST
	}
	if err == nil {
		err = e.disk.remove(p.dir, name)
	}
	return err
}

// reason is the public part of an error, for use within a sentence.
func reason(err error) string {
	if r, ok := errors.AsType[*turn.Refusal](err); ok {
		return r.Detail
	}
	return explainDisk(err).words
}

// Look returns what a file is now: its state, and its content if it is a
// regular file of at most 64 MiB. A file that does not exist is turn.Absent and
// no error. Errors are *turn.Refusal.
func (e *Executor) Look(path string) (turn.FileState, []byte, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return turn.Absent, nil, turn.Refuse(turn.NotFound, "%s is not the clean absolute path of a file", showName(path))
	}
	p, err := enter(e.protected.View(), "/", path, path)
	if err != nil {
		return turn.Absent, nil, err
	}
	defer p.close()
	o, err := p.original(context.Background(), e.disk, maxWrite, false, func(int64) {})
	if err != nil {
		return turn.Absent, nil, err
	}
	return o.state(), o.content, nil
}
