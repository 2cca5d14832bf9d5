package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// Source is a checkout that a worktree can be made of, as Inspect saw it.
type Source struct {
	// Dir is the top level of the checkout: a real path.
	Dir string `json:"dir"`
	// CommonDir is the Git directory that all checkouts of the repository
	// share.
	CommonDir string `json:"common_dir"`
	// Commit is what HEAD stands for, Branch the full name of the branch that
	// is checked out, or "".
	Commit OID    `json:"commit"`
	Branch string `json:"branch,omitempty"`
	// Notes say, a sentence each, in what a worktree will differ from the
	// checkout.
	Notes []string `json:"notes,omitempty"`
}

// Inspect decides whether a worktree can be made of the checkout at dir, which
// is its top level and clean. It changes nothing, not even the times in the
// index. Refusals carry working_directory_invalid, repository_not_clean,
// protected_path or RepositoryUnsupported, and say what to do.
func (k *Keeper) Inspect(ctx context.Context, dir string) (Source, error) {
	repo, err := k.locate(ctx, dir)
	if err != nil {
		return Source{}, err
	}
	look, err := k.look(ctx, repo)
	if err != nil {
		return Source{}, err
	}
	if err := look.clean(); err != nil {
		return Source{}, err
	}
	return Source{Dir: repo.dir, CommonDir: repo.commonDir, Commit: look.commit, Branch: look.branch, Notes: look.notes()}, nil
}

// look is what a checkout holds.
type look struct {
	commit OID
	branch string
	// staged differ between commit and index, changed between index and files;
	// hidden are those of changed that Git was told not to look at.
	staged, changed, hidden, untracked []string
	// filters names the filter of each tracked file that goes through one.
	filters map[string]string
}

// entry is one line of an index.
type entry struct {
	// tag is a letter: S for files that are not checked out (sparse), lower
	// case for those that Git was told not to look at.
	tag  byte
	mode string
	path string
}

// underWay are the files in a Git directory that say that somebody is in the
// middle of something.
var underWay = []struct{ name, what string }{
	{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase or git am"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"}, {"sequencer", "a cherry-pick or revert"},
}

// look reads the checkout of repo through a copy of its index.
func (k *Keeper) look(ctx context.Context, repo *repository) (*look, error) {
	for _, u := range underWay {
		if _, err := os.Lstat(filepath.Join(repo.gitDir, u.name)); err == nil {
			return nil, turn.Refuse(turn.RepositoryNotClean, "%s is under way; finish or abort it first", u.what)
		}
	}
	if _, err := os.Lstat(filepath.Join(repo.gitDir, "index.lock")); err == nil {
		return nil, turn.Refuse(turn.RepositoryNotClean, "another Git command is at work (or one crashed and left index.lock); try again when it has ended")
	}
	b, err := k.newBench(repo, repo.dir, nil)
	if err != nil {
		return nil, err
	}
	defer b.close()
	l := &look{}
	if l.commit, l.branch, err = k.head(ctx, repo); err != nil {
		return nil, err
	}
	if _, err := b.copyIndex(repo.gitDir); err != nil {
		return nil, refuse(turn.WorkingDirectoryInvalid, err, "the repository's index cannot be read")
	}
	fail := func(err error) error {
		return refuse(turn.GitFailed, err, "Git cannot compare the checkout with its commit")
	}
	entries, err := b.entries(ctx)
	if err != nil {
		return nil, fail(err)
	}
	if err := k.supported(repo, entries); err != nil {
		return nil, err
	}
	marked, err := b.unhide(ctx, entries)
	if err != nil {
		return nil, fail(err)
	}
	if l.staged, l.changed, l.untracked, err = b.status(ctx, l.commit); err != nil {
		return nil, fail(err)
	}
	for _, path := range l.changed {
		if marked[path] {
			l.hidden = append(l.hidden, path)
		}
	}
	if l.filters, err = b.filtered(ctx, paths(entries)); err != nil {
		return nil, fail(err)
	}
	return l, nil
}

func paths(entries []entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.path
	}
	return all
}

// entries lists the index of the bench.
func (b *bench) entries(ctx context.Context) ([]entry, error) {
	lines, err := b.names(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(lines))
	for _, line := range lines {
		// "H 100644 OID STAGE\tPATH"
		head, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 || len(fields[0]) != 1 {
			return nil, fmt.Errorf("read index: unexpected line %q", line)
		}
		entries = append(entries, entry{tag: fields[0][0], mode: fields[1], path: path})
	}
	return entries, nil
}

// unhide lets the bench look at every file that is there, also at those that
// Git was told to pass over. It returns which those were.
func (b *bench) unhide(ctx context.Context, entries []entry) (map[string]bool, error) {
	marked := map[string]bool{}
	var names []string
	for _, e := range entries {
		hidden := e.tag >= 'a' && e.tag <= 'z'
		sparse := e.tag == 'S' || e.tag == 's'
		if !hidden && !sparse {
			continue
		}
		if _, err := os.Lstat(filepath.Join(b.work, e.path)); err != nil && sparse {
			continue
		}
		marked[e.path] = true
		names = append(names, e.path)
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		if _, err := b.feed(ctx, names, "update-index", flag, "-z", "--stdin"); err != nil {
			return nil, err
		}
	}
	return marked, nil
}

// status lists the paths that differ between a commit and the index, those that
// differ between the index and the files, and those that are neither tracked
// nor ignored. Directories that are repositories end in a slash.
func (b *bench) status(ctx context.Context, commit OID) (staged, changed, untracked []string, err error) {
	if err := os.WriteFile(filepath.Join(b.dir, "git", "HEAD"), []byte(commit+"\n"), 0o600); err != nil {
		return nil, nil, nil, fmt.Errorf("read status: %w", err)
	}
	lines, err := b.names(ctx, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, nil, err
	}
	for _, line := range lines {
		// "XY PATH": X tells of the index, Y of the file.
		if len(line) < 4 || line[2] != ' ' {
			return nil, nil, nil, fmt.Errorf("read status: unexpected line %q", line)
		}
		path := line[3:]
		if line[:2] == "??" {
			untracked = append(untracked, path)
			continue
		}
		if line[0] != ' ' {
			staged = append(staged, path)
		}
		if line[1] != ' ' {
			changed = append(changed, path)
		}
	}
	return staged, changed, untracked, nil
}

// filtered names the filter of each file that an attribute sends through one.
func (b *bench) filtered(ctx context.Context, names []string) (map[string]string, error) {
	out, err := b.feed(ctx, names, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	filters := map[string]string{}
	fields := splitNames(out)
	for i := 0; i+2 < len(fields); i += 3 {
		switch value := fields[i+2]; value {
		case "unspecified", "unset", "set":
		default:
			filters[fields[i]] = value
		}
	}
	return filters, nil
}

// supported refuses what a worktree could not show faithfully.
func (k *Keeper) supported(repo *repository, entries []entry) error {
	var modules, missing, hidden, twins []string
	folded := map[string]bool{}
	view := k.protected.View()
	top := view.At(repo.dir)
	for _, e := range entries {
		if e.mode == "160000" {
			modules = append(modules, e.path)
		}
		if e.tag == 'S' || e.tag == 's' {
			if _, err := os.Lstat(filepath.Join(repo.dir, e.path)); err != nil {
				missing = append(missing, e.path)
			}
		}
		place := top
		for name := range strings.SplitSeq(e.path, "/") {
			place = place.Child(name)
		}
		// Rules about a name hold wherever the file is.
		if d := place.Decide(protected.Read); !d.Allowed && !strings.HasPrefix(d.Rule, "**/") {
			hidden = append(hidden, e.path)
		}
		if isTrue(repo.data["core.ignorecase"]) {
			if fold := strings.ToLower(e.path); folded[fold] {
				twins = append(twins, e.path)
			} else {
				folded[fold] = true
			}
		}
	}
	switch {
	case len(modules) > 0:
		return turn.Refuse(turn.RepositoryUnsupported, "the repository has submodules (%s), which a worktree would leave empty; use direct_write, or name the submodule's own directory", named(modules))
	case len(missing) > 0:
		return turn.Refuse(turn.RepositoryUnsupported, "the checkout is sparse (%s not checked out); run git sparse-checkout disable, or use direct_write", count(len(missing), "file is", "files are"))
	case len(hidden) > 0:
		return turn.Refuse(turn.ProtectedPath, "the repository tracks protected files (%s), which would lose their protection in a worktree", named(hidden))
	case len(twins) > 0:
		return turn.Refuse(turn.RepositoryUnsupported, "the repository has names that differ only in case (%s), which this file system cannot hold", named(twins))
	}
	return nil
}

// clean refuses a checkout that holds more, or less, than its commit.
func (l *look) clean() error {
	if len(l.hidden) > 0 {
		return turn.Refuse(turn.RepositoryNotClean, "Git was told to overlook changes (assume-unchanged or skip-worktree) in %s; a worktree would not have them", named(l.hidden))
	}
	var through []string
	for _, path := range l.changed {
		if l.filters[path] != "" {
			through = append(through, path)
		}
	}
	switch {
	case len(through) > 0 && len(through) == len(l.changed) && len(l.staged) == 0:
		return turn.Refuse(turn.RepositoryNotClean, "%s may have changes: a Git filter, which Deckhand does not run, would tell; run git status and try again, or commit", named(through))
	case len(l.staged)+len(l.changed) > 0:
		all := union(l.staged, l.changed)
		return turn.Refuse(turn.RepositoryNotClean, "%s: %s; commit or stash first", count(len(all), "tracked file has changes", "tracked files have changes"), named(all))
	case len(l.untracked) > 0:
		return turn.Refuse(turn.RepositoryNotClean, "%s: %s; commit, ignore or move them first", count(len(l.untracked), "file is neither tracked nor ignored", "files are neither tracked nor ignored"), named(l.untracked))
	}
	return nil
}

// notes say in what a worktree will differ from the checkout.
func (l *look) notes() []string {
	through := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(l.filters)) {
		through[l.filters[path]] = append(through[l.filters[path]], path)
	}
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(through)) {
		notes = append(notes, fmt.Sprintf("%s (%s) through the Git filter %s, which Deckhand does not run: a worktree holds what Git stores.",
			count(len(through[name]), "file goes", "files go"), named(through[name]), printable(name)))
	}
	return notes
}

// union joins two sorted lists.
func union(a, b []string) []string {
	seen := map[string]bool{}
	var all []string
	for _, list := range [][]string{a, b} {
		for _, name := range list {
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}
