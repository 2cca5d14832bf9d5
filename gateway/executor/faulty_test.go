package executor

import (
	"fmt"

	"golang.org/x/sys/unix"

	"deckhand/gateway/crash"
)

// faulty is a disk on which something goes wrong at the nth step.
type faulty struct {
	disk
	steps []string // taken so far
	// at is the step that goes wrong, counted from 1; 0 for none.
	at int
	// err is what that step returns, and with sticky every later one that
	// changes something. With late the step is done all the same.
	err          error
	sticky, late bool
	// die ends the run at the step instead, as a crash would: before it, or
	// after with late.
	die bool
	// short makes each write write only a few bytes.
	short bool
	// before is called before each step.
	before func(step string)
}

// died is what a run ends with that a crash ended.
type died struct{ step string }

// step takes one step.
func (f *faulty) step(name string, do func() error) error {
	f.steps = append(f.steps, name)
	if f.before != nil {
		f.before(name)
	}
	n := len(f.steps)
	if f.at == 0 || n != f.at && !(f.sticky && n > f.at) {
		return do()
	}
	if f.late {
		if err := do(); err != nil {
			return err
		}
	}
	if f.die {
		panic(died{name})
	}
	return f.err
}

func (f *faulty) makeDir(dir int, name string) error {
	return f.step("makeDir", func() error { return f.disk.makeDir(dir, name) })
}

func (f *faulty) removeDir(dir int, name string) error {
	return f.step("removeDir", func() error { return f.disk.removeDir(dir, name) })
}

func (f *faulty) openFile(dir int, name string) (fd int, err error) {
	err = f.step("openFile", func() (err error) { fd, err = f.disk.openFile(dir, name); return err })
	return closed(fd, err)
}

// closed closes what was opened by a step that then went wrong.
func closed(fd int, err error) (int, error) {
	if err != nil && fd > 0 {
		unix.Close(fd)
	}
	return fd, err
}

func (f *faulty) read(fd int, b []byte) (n int, err error) {
	err = f.step("read", func() (err error) { n, err = f.disk.read(fd, b); return err })
	return n, err
}

func (f *faulty) create(dir int, name string, mode uint32) (fd int, err error) {
	err = f.step("create", func() (err error) { fd, err = f.disk.create(dir, name, mode); return err })
	return closed(fd, err)
}

func (f *faulty) write(fd int, b []byte) (n int, err error) {
	if f.short {
		b = b[:min(len(b), 3)]
	}
	err = f.step("write", func() (err error) { n, err = f.disk.write(fd, b); return err })
	return n, err
}

func (f *faulty) dress(fd int, like *attributes) error {
	return f.step("dress", func() error { return f.disk.dress(fd, like) })
}

func (f *faulty) syncFile(fd int) error {
	return f.step("syncFile", func() error { return f.disk.syncFile(fd) })
}

func (f *faulty) replace(dir int, from, to string) error {
	return f.step("replace", func() error { return f.disk.replace(dir, from, to) })
}

func (f *faulty) place(dir int, from, to string) error {
	return f.step("place", func() error { return f.disk.place(dir, from, to) })
}

func (f *faulty) remove(dir int, name string) error {
	return f.step("remove", func() error { return f.disk.remove(dir, name) })
}

func (f *faulty) syncDir(dir int) error {
	return f.step("syncDir", func() error { return f.disk.syncDir(dir) })
}

func (f *faulty) reach(at crash.Point) {
	_ = f.step(string(at), func() error { return nil })
}

// until calls run with the nth step going wrong, for n from 1 on, until a run
// ends before its nth step.
func until(run func(d *faulty)) {
	for n := 1; ; n++ {
		d := &faulty{disk: realDisk{}, at: n}
		run(d)
		if len(d.steps) < n {
			return
		}
		if n > 500 {
			panic(fmt.Sprint("no end: ", d.steps))
		}
	}
}
