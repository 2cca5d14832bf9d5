package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// Report says what Apply did, or would do.
type Report struct {
	DryRun bool
	// Applied are the files of the source that were written or removed. It is
	// empty if there are conflicts: then nothing was written.
	Applied []FileChange
	// Already are files that hold the worktree's state already.
	Already   []string
	Conflicts []Conflict
	// Skipped are things in the worktree that are not brought home.
	Skipped []Skipped
}

// applying is the state of one Apply.
type applying struct {
	k      *Keeper
	tree   Tree
	src    *repository
	look   *look
	b      *bench
	root   *os.Root
	temps  string
	report Report
	ops    []op
	// gone are the paths that the ops remove.
	gone map[string]bool
	view *protected.View
}

// op is one file of the source that is to become something else.
type op struct {
	change FileChange
	// was is what stands there, now what it will be.
	was, now fileState
	// content is the file that holds the new content, old the one that holds
	// the content of was.
	content, old string
}

// Apply brings what a worktree changed since it began into the checkout that it
// was made of, as changes to its files: HEAD and index stay. The checkout has
// to be clean, but may have moved on; both sides are merged. If there is any
// conflict nothing is written. A call that was interrupted can be repeated:
// files that already hold what they should are left as they are.
func (k *Keeper) Apply(ctx context.Context, tree Tree, dryRun bool) (Report, error) {
	a := &applying{k: k, tree: tree, report: Report{DryRun: dryRun}, temps: ".deckhand-" + string(tree.Session) + "-", view: k.protected.View()}
	err := k.captured(ctx, tree, func(b *bench, s *state) error {
		a.report.Skipped = s.skipped
		return a.apply(ctx, b, s)
	})
	return a.report, err
}

func (a *applying) apply(ctx context.Context, wb *bench, s *state) error {
	var err error
	if a.src, err = a.k.locate(ctx, a.tree.Source); err != nil {
		return err
	}
	if a.src.commonDir != a.tree.CommonDir {
		return turn.Refuse(turn.WorkingDirectoryInvalid, "the source directory belongs to another repository now")
	}
	if a.root, err = os.OpenRoot(a.src.dir); err != nil {
		return refuse(turn.WorkingDirectoryInvalid, err, "the source directory cannot be opened")
	}
	defer a.root.Close()
	if a.look, err = a.k.look(ctx, a.src); err != nil {
		return err
	}
	if err := a.sweep(); err != nil {
		return err
	}
	if a.b, err = a.k.newBench(a.src, a.src.dir, wb.held); err != nil {
		return err
	}
	defer a.b.close()
	// What was captured is on the other bench.
	a.b.lend = filepath.Join(wb.dir, "objects")
	merged, conflicts, err := a.b.merge(ctx, a.tree.Commit, a.look.commit, s.tree)
	if err != nil {
		return err
	}
	if a.report.Conflicts = conflicts; len(conflicts) > 0 {
		return nil
	}
	changes, err := a.b.compareTrees(ctx, a.look.commit, merged, false)
	if err != nil {
		return err
	}
	if err := a.plan(ctx, changes, s.tree, merged); err != nil {
		return err
	}
	if err := a.onlyOurs(); err != nil {
		return err
	}
	for _, o := range a.ops {
		a.report.Applied = append(a.report.Applied, o.change)
	}
	if len(a.report.Conflicts) > 0 {
		a.report.Applied = nil
		return nil
	}
	if a.report.DryRun {
		return nil
	}
	if err := a.k.step("compared"); err != nil {
		return err
	}
	if now, _, err := a.k.head(ctx, a.src); err != nil || now != a.look.commit {
		return refuse(turn.RepositoryNotClean, errors.Join(err, errMoved), "the source got another commit meanwhile; try again")
	}
	return a.write()
}

// sweep takes away the temporary files of a call that was interrupted. Their
// names hold the session's id, which nobody else knows.
func (a *applying) sweep() error {
	var others []string
	for _, file := range a.look.untracked {
		if !strings.HasPrefix(path.Base(file), a.temps) {
			others = append(others, file)
			continue
		}
		if a.report.DryRun {
			continue
		}
		dir, err := parentOf(a.root, file, nil)
		if err != nil {
			return refuse(turn.IOError, err, "the rest of an interrupted apply cannot be removed")
		}
		err = dir.Remove(path.Base(file))
		dir.Close()
		if err != nil {
			return refuse(turn.IOError, err, "the rest of an interrupted apply cannot be removed")
		}
	}
	a.look.untracked = others
	return nil
}

// plan finds out for each changed file what it is now and what it will be.
func (a *applying) plan(ctx context.Context, changes []FileChange, theirs, merged OID) error {
	old, err := a.checkout(ctx, a.look.commit, "old", changes, Added)
	if err != nil {
		return err
	}
	fresh, err := a.checkout(ctx, merged, "new", changes, Deleted)
	if err != nil {
		return err
	}
	// Files that the merge takes over whole are copied from the worktree: a way
	// through Git's storage may change line ends.
	differ, err := a.b.compareTrees(ctx, theirs, merged, false)
	if err != nil {
		return err
	}
	mixed := map[string]bool{}
	for _, f := range differ {
		mixed[f.Path] = true
	}
	a.gone = map[string]bool{}
	for _, f := range changes {
		if f.Kind == Deleted {
			a.gone[f.Path] = true
		}
	}
	for _, f := range changes {
		o, reason, err := a.planOne(ctx, f, old, fresh, !mixed[f.Path])
		if err != nil {
			return err
		}
		switch {
		case reason != "":
			a.report.Conflicts = append(a.report.Conflicts, Conflict{f.Path, reason})
		case o.was.same(o.now):
			a.report.Already = append(a.report.Already, f.Path)
		default:
			a.ops = append(a.ops, o)
		}
	}
	return nil
}

// checkout writes the changed files of a tree, but those of one kind, as Git
// would write them in the source, and gives the directory.
func (a *applying) checkout(ctx context.Context, tree OID, name string, changes []FileChange, but Kind) (string, error) {
	dir := filepath.Join(a.b.dir, name)
	var names []string
	for _, f := range changes {
		if f.Kind != but {
			names = append(names, f.Path)
		}
	}
	if _, err := a.b.run(ctx, "read-tree", string(tree)); err != nil {
		return "", err
	}
	_, err := a.b.feed(ctx, names, "checkout-index", "-q", "-z", "--stdin", "--prefix="+dir+"/")
	return dir, err
}

// planOne gives the op of one file, or the reason why it cannot be brought home.
func (a *applying) planOne(ctx context.Context, f FileChange, oldDir, newDir string, whole bool) (o op, reason string, err error) {
	o.change = f
	if f.Kind == Retyped {
		o.change.Kind = Modified
	}
	if d := a.view.Decide(filepath.Join(a.src.dir, f.Path), protected.Write); !d.Allowed {
		return o, "it is protected: " + d.Reason, nil
	}
	if filter := a.look.filters[f.Path]; filter != "" {
		return o, "it goes through the Git filter " + printable(filter) + ", which Deckhand does not run", nil
	}
	if f.Kind != Added || !a.makesRoom(f.Path) {
		if o.was, err = a.stateIn(a.root, f.Path); err != nil {
			return o, unreadable(err), nil
		}
	}
	o.old = filepath.Join(oldDir, f.Path)
	expected := fileState{}
	if f.Kind != Added {
		if expected, err = a.stateOf(oldDir, f.Path); err != nil {
			return o, "", err
		}
	}
	if f.Kind != Deleted {
		o.content = filepath.Join(newDir, f.Path)
		if o.now, err = a.stateOf(newDir, f.Path); err != nil {
			return o, "", err
		}
		if whole {
			if reason, err := a.takeWhole(ctx, &o, f.Path); reason != "" || err != nil {
				return o, reason, err
			}
		}
	}
	if !isTrue(a.src.setting("core.filemode", "true")) && o.was.kind == "file" {
		// The file system cannot tell, so nothing is asked of it.
		expected.perm, o.now.perm = o.was.perm, o.was.perm
	}
	o.now = o.was.after(o.now)
	switch {
	case o.was.same(o.now):
		return o, "", nil
	case !o.was.same(expected):
		return o, mismatch(o.was, expected), nil
	case o.was.kind == "file" && o.was.links > 1:
		return o, "the file in the source has more than one name (hard link)", nil
	case o.was.kind == "file" && o.was.perm&0o200 == 0:
		return o, "the file in the source is read-only", nil
	}
	return o, "", nil
}

// makesRoom reports whether a file comes where a removal makes room: below what
// was a file, or in the place of a directory.
func (a *applying) makesRoom(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if a.gone[dir] {
			return true
		}
	}
	for gone := range a.gone {
		if within(gone, file) {
			return true
		}
	}
	return false
}

// mismatch says how the source's file differs from what its commit holds,
// although Git calls it clean, or from what was there before.
func mismatch(was, expected fileState) string {
	switch {
	case was.kind == "" && expected.kind != "":
		return "it is missing in the source"
	case expected.kind == "":
		return "the source has a file or folder of that name already"
	case was.kind == expected.kind:
		return "the source's file differs from its commit in line ends or mode"
	}
	return "the source has something else than its commit there"
}

func unreadable(err error) string {
	if errors.Is(err, errNotReal) {
		return "a folder on its way is a symbolic link or a file in the source"
	}
	return "it cannot be read in the source"
}

// stateIn looks at a file below root.
func (a *applying) stateIn(root *os.Root, file string) (fileState, error) {
	dir, err := parentOf(root, file, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	defer dir.Close()
	return stateAt(dir, path.Base(file))
}

// stateOf looks at a file that was checked out on the bench.
func (a *applying) stateOf(dir, file string) (fileState, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fileState{}, err
	}
	defer root.Close()
	return a.stateIn(root, file)
}

// takeWhole takes the content of an op from the worktree's own file. If its
// bytes are not those that Git would write, Git has to store both alike.
func (a *applying) takeWhole(ctx context.Context, o *op, file string) (reason string, err error) {
	root, err := os.OpenRoot(a.tree.Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	own, err := a.stateIn(root, file)
	if err != nil || own.kind != o.now.kind {
		return "it changed in the worktree in the meantime", nil
	}
	if own.kind != "file" || own.sha256 == o.now.sha256 {
		return "", nil
	}
	raw, err := a.hashes(ctx, filepath.Join(a.tree.Path, file), file)
	if err != nil {
		return "", err
	}
	stored, err := a.hashes(ctx, o.content, file)
	if err != nil {
		return "", err
	}
	if raw != stored {
		return "it changed in the worktree in the meantime", nil
	}
	o.content, o.now.sha256 = filepath.Join(a.tree.Path, file), own.sha256
	return "", nil
}

// hashes gives the object that Git would store for a file under a name.
func (a *applying) hashes(ctx context.Context, content, name string) (OID, error) {
	f, err := os.Open(content)
	if err != nil {
		return "", err
	}
	defer f.Close()
	c := a.b.command("hash-object", "--stdin", "--path="+name)
	c.input = f
	out, err := a.k.run.run(ctx, c)
	if err != nil {
		return "", err
	}
	return parseOID(out)
}

// onlyOurs refuses a source that holds changes other than those that this
// worktree's Apply made before.
func (a *applying) onlyOurs() error {
	ours := func(file string) bool { return slices.Contains(a.report.Already, file) }
	a.look.changed = slices.DeleteFunc(a.look.changed, ours)
	a.look.untracked = slices.DeleteFunc(a.look.untracked, ours)
	return a.look.clean()
}
