package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bench is a private Git directory made for one piece of work. It has a
// configuration of ours and no refs, hooks or drivers; it reads the
// repository's objects and keeps new ones to itself unless told otherwise.
// Nothing that runs on a bench reads the repository's configuration.
type bench struct {
	k    *Keeper
	repo *repository
	dir  string
	// work is the checkout that the bench looks at.
	work string
	// index is the index that the bench works with: its own, unless set to
	// another one.
	index string
	// keep says that new objects go into the repository.
	keep bool
	// lend is a further directory of objects, "" for none.
	lend string
	held *os.File
}

// newBench makes a bench for the checkout at work, which is of repo. The caller
// closes it.
func (k *Keeper) newBench(repo *repository, work string, held *os.File) (_ *bench, err error) {
	dir, err := os.MkdirTemp(k.scratch, "bench-")
	if err != nil {
		return nil, fmt.Errorf("make bench: %w", err)
	}
	b := &bench{k: k, repo: repo, dir: dir, work: work, index: filepath.Join(dir, "git", "index"), held: held}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	for _, sub := range []string{"git/refs", "git/info", "objects"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("make bench: %w", err)
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if repo.format == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(dir, "git", name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("make bench: %w", err)
		}
	}
	for _, name := range []string{"info/exclude", "info/attributes"} {
		from := filepath.Join(repo.commonDir, name)
		if !isPlainFile(from) {
			continue
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return nil, fmt.Errorf("make bench: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "git", name), text, 0o600); err != nil {
			return nil, fmt.Errorf("make bench: %w", err)
		}
	}
	return b, nil
}

// close removes the bench and all that was made on it.
func (b *bench) close() { os.RemoveAll(b.dir) }

// benchSettings hold on every bench; the data settings come on top.
var benchSettings = []setting{
	{"core.logAllRefUpdates", "false"}, {"core.fsmonitor", "false"}, {"core.untrackedCache", "false"},
	{"core.splitIndex", "false"}, {"core.hooksPath", "/dev/null"}, {"core.safecrlf", "false"}, {"core.quotePath", "false"},
	{"core.protectHFS", "true"}, {"core.protectNTFS", "true"}, {"index.sparse", "false"}, {"gc.auto", "0"},
	{"diff.renameLimit", "2000"}, {"merge.renameLimit", "2000"}, {"merge.directoryRenames", "conflict"},
}

// command is a call on the bench, in the checkout.
func (b *bench) command(args ...string) command {
	env := []string{"GIT_DIR=" + filepath.Join(b.dir, "git"), "GIT_WORK_TREE=" + b.work, "GIT_INDEX_FILE=" + b.index}
	config := slices.Clone(benchSettings)
	if b.keep {
		env = append(env, "GIT_OBJECT_DIRECTORY="+b.repo.objects())
		config = append(config, setting{"core.fsync", "objects,index"})
	} else {
		alternates := quotePath(b.repo.objects())
		if b.lend != "" {
			alternates += ":" + quotePath(b.lend)
		}
		env = append(env, "GIT_OBJECT_DIRECTORY="+filepath.Join(b.dir, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+alternates)
		config = append(config, setting{"core.fsync", "none"})
	}
	for _, key := range slices.Sorted(maps.Keys(b.repo.data)) {
		config = append(config, setting{key, b.repo.data[key]})
	}
	return command{args: args, dir: b.work, env: env, config: config, held: b.held}
}

// run calls git on the bench.
func (b *bench) run(ctx context.Context, args ...string) ([]byte, error) {
	return b.k.run.run(ctx, b.command(args...))
}

// feed calls git on the bench with NUL-terminated names on its standard input.
func (b *bench) feed(ctx context.Context, names []string, args ...string) ([]byte, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c := b.command(args...)
	c.stdin = []byte(strings.Join(names, "\x00") + "\x00")
	return b.k.run.run(ctx, c)
}

// names calls git on the bench and gives its output as a list.
func (b *bench) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := b.run(ctx, args...)
	return splitNames(out), err
}

func splitNames(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// quotePath writes a path for a list that is separated by colons.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// copyIndex copies the index of a checkout to the bench, with its time: by it
// Git knows which files changed too late for their times to tell. It reports
// whether there is one.
func (b *bench) copyIndex(gitDir string) (bool, error) {
	found, err := copyWithTime(filepath.Join(gitDir, "index"), b.index)
	if err != nil || !found {
		return false, err
	}
	// A split index names a shared one beside it.
	shared, err := filepath.Glob(filepath.Join(escapeGlob(gitDir), "sharedindex.*"))
	if err != nil {
		return false, fmt.Errorf("copy index: %w", err)
	}
	for _, from := range shared {
		if _, err := copyWithTime(from, filepath.Join(b.dir, "git", filepath.Base(from))); err != nil {
			return false, err
		}
	}
	return true, nil
}

func copyWithTime(from, to string) (bool, error) {
	if !isPlainFile(from) {
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, fmt.Errorf("copy index: %s is not a regular file", from)
	}
	info, err := os.Stat(from)
	if err != nil {
		return false, fmt.Errorf("copy index: %w", err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return false, fmt.Errorf("copy index: %w", err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return false, fmt.Errorf("copy index: %w", err)
	}
	if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		return false, fmt.Errorf("copy index: %w", err)
	}
	return true, nil
}

// escapeGlob makes a pattern that matches exactly path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
