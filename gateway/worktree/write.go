package worktree

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"deckhand/gateway/turn"
)

// write carries out the ops of an Apply, one file after the other: what goes
// first, so that its place is free, then what comes. If one fails, those before
// it are taken back.
func (a *applying) write() error {
	slices.SortStableFunc(a.ops, func(x, y op) int {
		if c := cmp.Compare(y.rank(), x.rank()); c != 0 {
			return c
		}
		if x.rank() == 1 {
			return cmp.Compare(y.change.Path, x.change.Path)
		}
		return cmp.Compare(x.change.Path, y.change.Path)
	})
	var made []string
	for n, o := range a.ops {
		done := a.ops[:n]
		err := a.do(o, func(dir string) { made = append(made, dir) })
		if err == nil {
			done = a.ops[:n+1]
			err = a.k.step("applied " + o.change.Path)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, errStopped) {
			return err
		}
		back := a.takeBack(done, made)
		a.report.Applied = nil
		if back != nil {
			return turn.RefuseFor(turn.IOError, errors.Join(err, back), "%s could not be written, and what was written before it could not be taken back; compare the source with git status", printable(o.change.Path))
		}
		if errors.Is(err, errMoved) {
			a.report.Conflicts = append(a.report.Conflicts, Conflict{o.change.Path, "it changed in the source in the meantime"})
			return nil
		}
		return turn.RefuseFor(turn.IOError, err, "%s could not be written; nothing was changed", printable(o.change.Path))
	}
	return nil
}

// rank orders ops: removals before the rest.
func (o op) rank() int {
	if o.now.kind == "" {
		return 1
	}
	return 0
}

// do carries out one op.
func (a *applying) do(o op, made func(dir string)) error {
	if o.now.kind == "" {
		dir, err := parentOf(a.root, o.change.Path, nil)
		if err != nil {
			return err
		}
		err = drop(dir, path.Base(o.change.Path), o.was)
		dir.Close()
		if err != nil {
			return err
		}
		a.dropEmpty(path.Dir(o.change.Path))
		return nil
	}
	dir, err := parentOf(a.root, o.change.Path, made)
	if err != nil {
		return err
	}
	defer dir.Close()
	content, err := open(o.now, o.content)
	if err != nil {
		return err
	}
	defer content.Close()
	return put(dir, path.Base(o.change.Path), a.temps, o.was, o.now, content)
}

// open gives the content of a state; a link has none.
func open(s fileState, file string) (io.ReadCloser, error) {
	if s.kind != "file" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return os.Open(file)
}

// dropEmpty removes directories that a removal left empty, as Git does.
func (a *applying) dropEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		parent, err := parentOf(a.root, dir, nil)
		if err != nil {
			return
		}
		// Only an empty directory can be removed this way.
		err = parent.Remove(path.Base(dir))
		parent.Close()
		if err != nil {
			return
		}
	}
}

// takeBack undoes ops in reverse, each only if nobody touched the file since,
// and the directories that they made.
func (a *applying) takeBack(done []op, made []string) error {
	var problems []error
	for _, o := range slices.Backward(done) {
		problems = append(problems, a.undo(o))
	}
	for _, dir := range slices.Backward(made) {
		if parent, err := parentOf(a.root, dir, nil); err == nil {
			// It stays if somebody uses it.
			parent.Remove(path.Base(dir))
			parent.Close()
		}
	}
	return errors.Join(problems...)
}

func (a *applying) undo(o op) error {
	dir, err := parentOf(a.root, o.change.Path, func(string) {})
	if err != nil {
		return err
	}
	defer dir.Close()
	name := path.Base(o.change.Path)
	found, err := stateAt(dir, name)
	if err != nil {
		return err
	}
	if !found.same(o.now) {
		return errMoved
	}
	if o.was.kind == "" {
		return drop(dir, name, found)
	}
	content, err := open(o.was, o.old)
	if err != nil {
		return err
	}
	defer content.Close()
	return put(dir, name, a.temps, found, o.was, content)
}
