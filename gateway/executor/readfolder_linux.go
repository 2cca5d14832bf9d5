package executor

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// direntBuffers hold what getdents returns.
var direntBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// readFolder returns the entries of an open folder whose keys are at least
// from, in order, at most part of them, and the key to go on with if there are more.
func readFolder(fd int, from string, part int) ([]entry, string, error) {
	p := direntBuffers.Get().(*[]byte)
	defer direntBuffers.Put(p)
	g := gather{from: from, part: part}
	for {
		var n int
		err := retry(func() (err error) { n, err = unix.Getdents(fd, *p); return err })
		if err != nil {
			return nil, "", err
		}
		if n <= 0 {
			entries, more := g.done()
			return entries, more, nil
		}
		g.dirents(fd, (*p)[:n])
	}
}

// dirents takes the entries of one buffer: struct linux_dirent64 has the
// record length at byte 16, the type at 18, the name from 19 on.
func (g *gather) dirents(fd int, buf []byte) {
	for len(buf) >= 19 {
		length := int(binary.NativeEndian.Uint16(buf[16:]))
		if length < 19 || length > len(buf) {
			return
		}
		kind, name := buf[18], buf[19:length]
		buf = buf[length:]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if len(name) == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		g.dirent(fd, name, kind)
	}
}

func (g *gather) dirent(fd int, name []byte, kind byte) {
	k := specialFile
	switch kind {
	case unix.DT_REG:
		k = regularFile
	case unix.DT_DIR:
		k = directory
	case unix.DT_LNK:
		k = symlink
	case unix.DT_UNKNOWN:
		info, err := statIn(fd, string(name))
		if err != nil {
			return // vanished
		}
		k = info.kind
	}
	key := string(name)
	if k == directory {
		key += "/"
	}
	g.add(key, k)
}
