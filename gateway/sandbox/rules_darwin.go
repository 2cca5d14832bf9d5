package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelRules are a policy's with the paths as the kernel spells them, which
// is how it will ask: in the case and form that the file system stores.
func kernelRules(p Policy) (seatbeltRules, error) {
	r := seatbeltRules{Whole: p.View == WholeSystem}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{p.ReadOnly, &r.ReadOnly}, {p.Writable, &r.Writable}} {
		for _, path := range list.from {
			real, err := kernelPath(path)
			if err != nil {
				return seatbeltRules{}, fmt.Errorf("look at %s: %w", path, err)
			}
			*list.to = append(*list.to, real)
		}
	}
	for _, path := range p.Hidden {
		r.Hidden = append(r.Hidden, hiddenSpellings(path)...)
	}
	return r, nil
}

// kernelPath asks the kernel where a path is. No component of it may be a link.
func kernelPath(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_NOFOLLOW_ANY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4*unix.PathMax)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	runtime.KeepAlive(buf)
	if err != nil {
		return "", err
	}
	end := bytes.IndexByte(buf, 0)
	if end <= 0 || !filepath.IsAbs(string(buf[:end])) {
		return "", errors.New("the descriptor has no path")
	}
	return string(buf[:end]), nil
}

// hiddenSpellings are the names under which a hidden path may be asked for:
// as the policy has it, and as the kernel has it, if it can be opened, else
// the directory that it is in.
func hiddenSpellings(path string) []string {
	all := []string{path}
	if real, err := kernelPath(path); err == nil {
		all = append(all, real)
	} else if dir, err := kernelPath(filepath.Dir(path)); err == nil {
		all = append(all, filepath.Join(dir, filepath.Base(path)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
