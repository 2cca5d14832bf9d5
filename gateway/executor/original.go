package executor

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// maxWrite is up to which size, in bytes, files are written or edited.
const maxWrite = 64 << 20

// original is the file that a write is about: as it was read, or absent.
type original struct {
	exists  bool
	info    fileInfo
	attr    *attributes
	content []byte
	sum     *digest // of content, nil if absent
}

// sha256 is the hash of the content, "" of a file that is absent.
func (o *original) sha256() string {
	if !o.exists {
		return ""
	}
	return o.sum.sum()
}

// state is the original as a ledger keeps it.
func (o *original) state() turn.FileState {
	if !o.exists {
		return turn.Absent
	}
	return turn.FileState{Exists: true, SHA256: o.sha256(), Bytes: int64(len(o.content)), Mode: o.attr.mode}
}

// inspect looks at the file of p without opening it. It returns false if there
// is none, and refuses what is no regular file with one name.
func (p *place) inspect() (fileInfo, bool, error) {
	if len(p.missing) > 0 {
		return fileInfo{}, false, nil
	}
	info, err := statIn(p.dir, p.name)
	if errors.Is(err, unix.ENOENT) {
		return fileInfo{}, false, nil
	}
	if err != nil {
		return info, false, p.unreadable(err)
	}
	name := showName(p.asked)
	switch {
	case info.kind == symlink:
		return info, true, refuseLink(p.view, p.path(), p.asked)
	case info.kind == directory:
		return info, true, turn.Refuse(turn.NotARegularFile, "%s is a folder", name)
	case info.kind != regularFile:
		return info, true, turn.Refuse(turn.NotARegularFile, "%s is %s; only regular files can be written", name, info.kind)
	case info.links > 1:
		return info, true, turn.Refuse(turn.HardLinkRefused, "%s has %d names (hard links). Replacing it would leave the others with the old content, so it is not written", name, info.links)
	}
	return info, true, refuseWrite(p.asked, p.view.SameWrite(info.dev, info.ino))
}

func (p *place) unreadable(err error) error {
	f := explainDisk(err)
	return turn.RefuseFor(f.code, err, "%s could not be read: %s", showName(p.asked), f.words)
}

// original reads the file of p, up to limit bytes. wants says that the caller
// is going to change it, so that what may not be changed is refused.
func (p *place) original(ctx context.Context, d disk, limit int64, wants bool, progress func(int64)) (*original, error) {
	seen, exists, err := p.inspect()
	if err != nil {
		return nil, err
	}
	if !exists {
		return &original{}, nil
	}
	fd, err := d.openFile(p.dir, p.name)
	if err != nil {
		return nil, p.unreadable(err)
	}
	defer unix.Close(fd)
	o := &original{exists: true}
	if o.info, err = statFD(fd); err != nil {
		return nil, p.unreadable(err)
	}
	if o.info.kind != regularFile || o.info.links != 1 || o.info.dev != seen.dev || o.info.ino != seen.ino {
		return nil, turn.Refuse(turn.FileChanged, "%s was replaced by another file just now; read it again", showName(p.asked))
	}
	if o.attr, err = attributesOf(fd); err != nil {
		return nil, p.unreadable(err)
	}
	if wants {
		if err := p.writable(o); err != nil {
			return nil, err
		}
	}
	if o.info.size > limit {
		return nil, turn.Refuse(turn.TooLarge, "%s has %s; files up to %s can be changed", showName(p.asked), count(o.info.size, "byte"), count(limit>>20, "MiB"))
	}
	o.sum = newDigest(o.info.size)
	o.content, err = readAll(ctx, d, fd, o.info.size, limit, o.sum.add, progress)
	o.sum.end()
	if err != nil {
		o.sum.wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, errTooLarge) {
			return nil, turn.Refuse(turn.TooLarge, "%s grows beyond %s, up to which files can be changed", showName(p.asked), count(limit>>20, "MiB"))
		}
		return nil, p.unreadable(err)
	}
	return o, nil
}

var errTooLarge = errors.New("larger than the limit")

// readPiece is how much of a file is read at a time, in bytes.
const readPiece = 1 << 20

// readAll reads an open file to its end, and gives each piece to whoever wants
// it while the next one is read.
func readAll(ctx context.Context, d disk, fd int, size, limit int64, each func([]byte), progress func(int64)) ([]byte, error) {
	b := make([]byte, 0, size+1)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := d.read(fd, b[len(b):min(cap(b), len(b)+readPiece)])
		if err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		if n == 0 {
			progress(int64(len(b)))
			return b, nil
		}
		each(b[len(b) : len(b)+n])
		if b = b[:len(b)+n]; int64(len(b)) > limit {
			return nil, errTooLarge
		}
	}
}

// writable refuses a file that its owner or the system does not want changed,
// which a rename over it would not notice.
func (p *place) writable(o *original) error {
	name := showName(p.asked)
	switch mode := o.attr.mode; {
	case mode&0o222 == 0, int(o.attr.uid) == unix.Geteuid() && mode&0o200 == 0:
		return turn.Refuse(turn.ReadOnlyFile, "%s is read-only by its mode (%04o). Only the user can change that", name, mode)
	case mode&0o7000 != 0:
		return turn.Refuse(turn.ReadOnlyFile, "%s has special rights (mode %04o: setuid, setgid or sticky), which a changed file must not have", name, mode)
	}
	for _, x := range o.attr.xattrs {
		if binding(x.name) {
			return turn.Refuse(turn.ReadOnlyFile, "%s has the attribute %s, which a changed file must not have", name, x.name)
		}
	}
	err := retry(func() error { return unix.Faccessat(p.dir, p.name, unix.W_OK, unix.AT_EACCESS) })
	if err == nil {
		return nil
	}
	f := explainDisk(err)
	return turn.RefuseFor(f.code, err, "%s may not be changed: %s", name, f.words)
}

// creatable refuses a folder in which nothing can be made or renamed.
func (p *place) creatable() error {
	err := retry(func() error { return unix.Faccessat(p.dir, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) })
	if err == nil {
		return nil
	}
	f := explainDisk(err)
	return turn.RefuseFor(f.code, err, "%s cannot be written in %s: %s", showName(p.asked), showName(p.at), f.words)
}

// spelling finds how the folder itself spells the name of an existing file,
// where letters of either case are one.
func (p *place) spelling() error {
	if !p.folds || len(p.missing) > 0 {
		return nil
	}
	want, err := statIn(p.dir, p.name)
	if err != nil {
		return nil // absent: the name as asked
	}
	entries, _, err := readFolder(p.dir, "", 1<<20)
	if err != nil {
		return p.explain(p.at, err)
	}
	for _, e := range entries {
		if e.name() == p.name {
			return nil
		}
	}
	for _, e := range entries {
		if protected.Fold(e.name()) != protected.Fold(p.name) {
			continue
		}
		if info, err := statIn(p.dir, e.name()); err == nil && info.dev == want.dev && info.ino == want.ino {
			p.name = e.name()
			return nil
		}
	}
	return nil
}
