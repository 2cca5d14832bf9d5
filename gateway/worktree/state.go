package worktree

import (
	"context"
	"os"
	"path/filepath"
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
	s := &state{}
	var gone, there []string
	for _, path := range union(changed, untracked) {
		if dir, isDir := strings.CutSuffix(path, "/"); isDir {
			s.skipped = append(s.skipped, Skipped{dir, "it is a Git repository of its own"})
			continue
		}
		info, err := os.Lstat(filepath.Join(b.work, path))
		switch {
		case err != nil:
			gone = append(gone, path)
		case info.Mode().IsRegular() && !readable(filepath.Join(b.work, path)):
			s.skipped = append(s.skipped, Skipped{path, "it cannot be read"})
		case info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0:
			there = append(there, path)
		default:
			// A directory in the place of a file: its own files are untracked.
			gone = append(gone, path)
			if !info.IsDir() {
				s.skipped = append(s.skipped, Skipped{path, "it is neither a file nor a symbolic link"})
			} else if _, err := os.Lstat(filepath.Join(b.work, path, ".git")); err == nil {
				s.skipped = append(s.skipped, Skipped{path, "it is a Git repository of its own"})
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

func readable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// ignored lists the files that Git does not look at.
func (b *bench) ignored(ctx context.Context) ([]string, error) {
	return b.names(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
}
