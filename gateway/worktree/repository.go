package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// OID names an object: 40 or 64 lower-case hexadecimal digits.
type OID string

// repository is a checkout and the Git directories behind it.
type repository struct {
	// dir is the top level of the checkout: a real path.
	dir string
	// gitDir is the checkout's own Git directory, commonDir the one that it
	// shares with the repository's other checkouts. They are the same but in a
	// linked worktree.
	gitDir, commonDir string
	// format is "sha1" or "sha256".
	format string
	// data are the settings that only describe data, by lower-case key.
	data map[string]string
	// hooks are the names of hooks that the configuration defines, which newer
	// versions of Git run.
	hooks []string
	// bare says that the configuration calls the repository bare, partial that
	// objects may be missing because they are fetched when needed.
	bare, partial bool
}

// locate finds the repository whose top level is dir.
func (k *Keeper) locate(ctx context.Context, dir string) (*repository, error) {
	if !filepath.IsAbs(dir) {
		return nil, turn.Refuse(turn.WorkingDirectoryInvalid, "the path is not absolute")
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "the directory does not exist or cannot be reached")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "that is not a directory")
	}
	if strings.ContainsAny(dir, "\n\r") {
		return nil, turn.Refuse(turn.WorkingDirectoryInvalid, "the directory's path holds a line break, which Git's own files about worktrees cannot hold")
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return nil, notTopLevel(dir, err)
	}
	repo := &repository{dir: dir, gitDir: filepath.Join(dir, ".git")}
	if err := owned(dir, repo.gitDir); err != nil {
		return nil, err
	}
	if err := k.readDirs(ctx, repo); err != nil {
		return nil, err
	}
	if err := owned(repo.gitDir, repo.commonDir); err != nil {
		return nil, err
	}
	for _, path := range []string{repo.dir, repo.gitDir, repo.commonDir} {
		if d := k.protected.Decide(path, protected.Read); !d.Allowed && d.Rule != protected.GitRule {
			return nil, turn.Refuse(turn.ProtectedPath, "the repository lies where %s", d.Reason)
		}
	}
	if err := k.readSettings(ctx, repo); err != nil {
		return nil, err
	}
	if repo.bare && repo.gitDir == repo.commonDir {
		return nil, turn.Refuse(turn.WorkingDirectoryInvalid, "the repository is bare: it has no files to work on; name a checkout of it")
	}
	return repo, nil
}

// notTopLevel says what dir is instead.
func notTopLevel(dir string, cause error) error {
	if !errors.Is(cause, fs.ErrNotExist) {
		return turn.RefuseFor(turn.WorkingDirectoryInvalid, cause, "the directory cannot be read")
	}
	if isGitDir(dir) {
		return turn.Refuse(turn.WorkingDirectoryInvalid, "that is a bare repository or a Git directory; name the top level of a checkout")
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return turn.Refuse(turn.WorkingDirectoryInvalid, "the directory is not the top level of its repository, which is %s", printable(up))
		}
		if up == filepath.Dir(up) {
			return turn.Refuse(turn.WorkingDirectoryInvalid, "the directory is not a Git repository; use direct_write, or make it one with git init and a first commit")
		}
	}
}

// isGitDir looks as Git does.
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// owned refuses what belongs to another user, as Git does where it looks for a
// repository by itself: what is in there is somebody else's program.
func owned(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "the repository's Git directory is missing or cannot be reached")
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			return turn.Refuse(turn.WorkingDirectoryInvalid, "the repository belongs to another user; only your own can be worked on")
		}
	}
	return nil
}

// readDirs asks Git which directories are behind the checkout.
func (k *Keeper) readDirs(ctx context.Context, repo *repository) error {
	out, err := k.run.run(ctx, repo.command("rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir", "--show-object-format"))
	if err != nil {
		return refuse(turn.WorkingDirectoryInvalid, err, "Git cannot read the repository")
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return turn.Refuse(turn.WorkingDirectoryInvalid, "the path of the repository's Git directory holds a line break")
	}
	repo.gitDir, repo.commonDir, repo.format = lines[0], lines[1], lines[2]
	for _, dir := range []*string{&repo.gitDir, &repo.commonDir} {
		real, err := filepath.EvalSymlinks(*dir)
		if err != nil || !filepath.IsAbs(real) {
			return turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "the repository's Git directory cannot be used")
		}
		*dir = real
	}
	if repo.format != "sha1" && repo.format != "sha256" {
		return turn.Refuse(turn.RepositoryUnsupported, "the repository uses the object format %s", printable(repo.format))
	}
	return nil
}

// command is a call that has to ask the repository itself. Its configuration
// is read; the overrides win over it.
func (r *repository) command(args ...string) command {
	config := append([]setting(nil), overrides...)
	for _, name := range r.hooks {
		// The last command of a hook's name is the one that counts.
		config = append(config, setting{"hook." + name + ".command", ":"}, setting{"hook." + name + ".enabled", "false"})
	}
	return command{args: args, dir: r.dir, env: []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.dir}, config: config}
}

// objects is where the repository's objects are.
func (r *repository) objects() string { return filepath.Join(r.commonDir, "objects") }

// dataSettings describe data and start nothing. Only they are taken over from
// the repository and the user.
var dataSettings = map[string]bool{
	"core.autocrlf": true, "core.eol": true, "core.filemode": true, "core.symlinks": true, "core.ignorecase": true,
	"core.precomposeunicode": true, "core.trustctime": true, "core.checkstat": true,
	"core.excludesfile": true, "core.attributesfile": true, "user.name": true, "user.email": true,
}

// readSettings reads the user's configuration and then the repository's, which
// comes last and wins.
func (k *Keeper) readSettings(ctx context.Context, repo *repository) error {
	repo.data = map[string]string{}
	if k.home != "" {
		for _, path := range []string{".config/git/config", ".gitconfig"} {
			file := filepath.Join(k.home, path)
			if !isPlainFile(file) {
				continue
			}
			// Only this call knows the home, and it reads no repository.
			out, err := k.run.run(ctx, command{
				args: []string{"config", "--file", file, "--includes", "--list", "-z"}, env: []string{"HOME=" + k.home}})
			if err != nil {
				return refuse(turn.WorkingDirectoryInvalid, err, "Git cannot read the user's configuration, ~/%s", path)
			}
			for record := range bytes.SplitSeq(out, []byte{0}) {
				k.take(repo, string(record))
			}
		}
		for key, path := range map[string]string{"core.excludesfile": ".config/git/ignore", "core.attributesfile": ".config/git/attributes"} {
			if _, set := repo.data[key]; !set {
				repo.data[key] = filepath.Join(k.home, path)
			}
		}
	}
	out, err := k.run.run(ctx, repo.command("config", "--includes", "--list", "--show-scope", "-z"))
	if err != nil {
		return refuse(turn.WorkingDirectoryInvalid, err, "Git cannot read the repository's configuration")
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if scope := fields[i]; scope == "local" || scope == "worktree" {
			k.take(repo, fields[i+1])
		}
	}
	for _, key := range []string{"core.excludesfile", "core.attributesfile"} {
		if path, set := repo.data[key]; set && !isPlainFile(path) {
			delete(repo.data, key)
		}
	}
	return nil
}

// take keeps one "key\nvalue" of a configuration if it is of use.
func (k *Keeper) take(repo *repository, record string) {
	key, value, hasValue := strings.Cut(record, "\n")
	if !hasValue {
		value = "true"
	}
	section, _, _ := strings.Cut(key, ".")
	switch {
	case key == "core.bare":
		repo.bare = isTrue(value)
	case key == "extensions.partialclone", section == "remote" && strings.HasSuffix(key, ".promisor") && isTrue(value):
		repo.partial = true
	case section == "hook" && strings.Count(key, ".") > 1:
		repo.hooks = append(repo.hooks, key[len("hook."):strings.LastIndexByte(key, '.')])
	case key == "core.excludesfile", key == "core.attributesfile":
		if rest, ok := strings.CutPrefix(value, "~/"); ok && k.home != "" {
			value = filepath.Join(k.home, rest)
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(repo.dir, value)
		}
		repo.data[key] = value
	case dataSettings[key]:
		repo.data[key] = value
	}
}

// setting gives a data setting, or what Git takes without it.
func (r *repository) setting(key, otherwise string) string {
	if value, set := r.data[key]; set {
		return value
	}
	return otherwise
}

// isTrue reads a boolean as Git writes and reads them.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// isPlainFile keeps pipes and devices away, at which git would wait.
func isPlainFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// head gives the commit and the branch ("" if detached) of the checkout.
func (k *Keeper) head(ctx context.Context, repo *repository) (OID, string, error) {
	out, err := k.run.run(ctx, repo.command("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"))
	if err != nil {
		if at, again := k.resolve(ctx, repo, "HEAD^{commit}"); again == nil && at == "" {
			return "", "", turn.RefuseFor(turn.WorkingDirectoryInvalid, err, "the repository has no commit yet; make a first one, or use direct_write")
		}
		return "", "", refuse(turn.WorkingDirectoryInvalid, err, "Git cannot read the repository's HEAD")
	}
	first, branch, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	commit, err := parseOID([]byte(first))
	if err != nil || !ok {
		return "", "", refuse(turn.WorkingDirectoryInvalid, errors.Join(err, fmt.Errorf("read HEAD: %q", out)), "Git cannot read the repository's HEAD")
	}
	if branch == "HEAD" {
		branch = ""
	}
	return commit, branch, nil
}

// resolve gives the object that a name stands for, "" if there is none.
func (k *Keeper) resolve(ctx context.Context, repo *repository, name string) (OID, error) {
	out, err := k.run.run(ctx, repo.command("rev-parse", "--verify", "-q", "--end-of-options", name))
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return parseOID(out)
}

// parseOID reads an object's name from the output of git.
func parseOID(out []byte) (OID, error) {
	text := strings.TrimSuffix(string(out), "\n")
	if len(text) != 40 && len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return "", fmt.Errorf("read object name: %q is none", text)
	}
	return OID(text), nil
}
