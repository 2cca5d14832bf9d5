package executor

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// readFolder returns the entries of an open folder whose keys are at least
// from, in order, at most part of them, and the key to go on with if there are more.
func readFolder(fd int, from string, part int) ([]entry, string, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	f := os.NewFile(uintptr(dup), "folder")
	defer f.Close()
	g := gather{from: from, part: part}
	for {
		list, err := f.ReadDir(4096)
		for _, e := range list {
			key, kind := e.Name(), specialFile
			switch {
			case e.Type().IsRegular():
				kind = regularFile
			case e.IsDir():
				key, kind = key+"/", directory
			case e.Type()&fs.ModeSymlink != 0:
				kind = symlink
			}
			g.add(key, kind)
		}
		if errors.Is(err, io.EOF) {
			entries, more := g.done()
			return entries, more, nil
		}
		if err != nil {
			return nil, "", err
		}
	}
}
