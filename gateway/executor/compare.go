package executor

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// errChanged says that the file is not what it was when it was read.
var errChanged = errors.New("changed meanwhile")

// compare makes sure, as late as can be, that the file is still what it was
// when the new content was made of it, byte by byte, and its folder where it
// was. The bytes take their time, so what is quick to ask is asked after them:
// between that and the swap there is one step of the system.
func (c *change) compare(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.was.exists {
		if err := c.compareFile(); err != nil {
			return err
		}
	}
	info, err := statIn(c.p.dir, c.p.name)
	switch {
	case c.p.moved():
		return errChanged
	case errors.Is(err, unix.ENOENT):
		if c.was.exists {
			return errChanged
		}
		return nil
	case err != nil:
		return err
	case !c.was.exists || !c.sameFile(info):
		return errChanged
	}
	return nil
}

// sameFile reports whether a file is the one that was read, with one name.
func (c *change) sameFile(info fileInfo) bool {
	return info.kind == regularFile && info.links == 1 && info.dev == c.was.info.dev && info.ino == c.was.info.ino
}

// compareFile compares the file that has the name now: content, mode and owner.
func (c *change) compareFile() error {
	// A file that is none any more is not opened.
	if info, err := statIn(c.p.dir, c.p.name); errors.Is(err, unix.ENOENT) || err == nil && !c.sameFile(info) {
		return errChanged
	} else if err != nil {
		return err
	}
	fd, err := c.e.disk.openFile(c.p.dir, c.p.name)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return errChanged
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var before, after unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &before) }); err != nil {
		return err
	}
	kept := uint32(before.Mode)&0o7777 == c.was.attr.mode && before.Uid == c.was.attr.uid && before.Gid == c.was.attr.gid
	if !kept || !c.sameFile(infoOf(&before)) || before.Size != int64(len(c.was.content)) {
		return errChanged
	}
	if err := c.compareContent(fd); err != nil {
		return err
	}
	if err := retry(func() error { return unix.Fstat(fd, &after) }); err != nil {
		return err
	}
	// What was compared first may have changed while the rest was read.
	if before.Ctim != after.Ctim {
		return errChanged
	}
	return nil
}

func (c *change) compareContent(fd int) error {
	buf := make([]byte, min(chunk, len(c.was.content)+1))
	for rest := c.was.content; ; {
		n, err := c.e.disk.read(fd, buf)
		if err != nil {
			return err
		}
		if n > len(rest) || string(buf[:n]) != string(rest[:n]) {
			return errChanged
		}
		if rest = rest[n:]; n == 0 {
			if len(rest) > 0 {
				return errChanged
			}
			return nil
		}
	}
}
