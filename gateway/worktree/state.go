package worktree

import (
	"context"
	"os"
	"path"
	"strings"
	"syscall"
)

// Skipped is something in a worktree that is not brought home.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// state is what a worktree holds now, as a tree object on a bench: committed
// and uncommitted, untracked included, ignored not.
type state struct {
	tree    OID
	skipped []Skipped
}

// capture reads the worktree at b.work into the bench's own index and objects.
// The worktree's index is only read; without one, tip says what was tracked.
func (b *bench) capture(ctx context.Context, tip OID) (*state, error) {
	found, err := b.copyIndex(b.repo.gitDir)
	if err != nil {
		return nil, err
	}
	if !found {
		if _, err := b.run(ctx, "read-tree", string(tip)); err != nil {
			return nil, err
		}
	}
	entries, err := b.entries(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := b.unhide(ctx, entries); err != nil {
		return nil, err
	}
	_, changed, untracked, err := b.status(ctx, tip)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(b.work)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &state{}
	var gone, there []string
	for _, file := range union(changed, untracked) {
		if dir, isDir := strings.CutSuffix(file, "/"); isDir {
			s.skipped = append(s.skipped, Skipped{dir, ownRepository})
			continue
		}
		present, why := takeable(root, file)
		switch {
		case present:
			there = append(there, file)
		case why == unreadableFile:
			// What was there before stays.
			s.skipped = append(s.skipped, Skipped{file, why})
		default:
			gone = append(gone, file)
			if why != "" {
				s.skipped = append(s.skipped, Skipped{file, why})
			}
		}
	}
	if _, err := b.feed(ctx, gone, "update-index", "--force-remove", "-z", "--stdin"); err != nil {
		return nil, err
	}
	if _, err := b.feed(ctx, there, "update-index", "--add", "--remove", "--replace", "-z", "--stdin"); err != nil {
		return nil, err
	}
	out, err := b.run(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	s.tree, err = parseOID(out)
	return s, err
}

// Reasons why something is not brought home.
const (
	ownRepository  = "it is a Git repository of its own"
	unreadableFile = "it cannot be read"
	specialFile    = "it is neither a file nor a symbolic link"
)

// takeable reports whether there is a file or link below root that Git can take,
// or why not. Beyond a symbolic link there is nothing.
func takeable(root *os.Root, file string) (present bool, why string) {
	dir, err := parentOf(root, file, nil)
	if err != nil {
		return false, ""
	}
	defer dir.Close()
	name := path.Base(file)
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return false, ""
	case info.Mode()&os.ModeSymlink != 0:
		return true, ""
	case info.Mode().IsRegular():
		f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false, unreadableFile
		}
		f.Close()
		return true, ""
	case info.IsDir():
		// A directory in the place of a file: its own files are untracked.
		if _, err := dir.Lstat(path.Join(name, ".git")); err == nil {
			return false, ownRepository
		}
		return false, ""
	}
	return false, specialFile
}

// ignored lists the files that Git does not look at.
func (b *bench) ignored(ctx context.Context) ([]string, error) {
	return b.names(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
}
