package worktree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// world is a home, a repository in it, and a Keeper.
type world struct {
	t *testing.T
	// home is the user's, dir the repository.
	home, dir string
	k         *Keeper
	// ignored are files of the source that no worktree gets.
	ignored []string
	// books are what the owners of worktrees have recorded of removals.
	books map[turn.SessionID]*book
}

// template holds the repository that newWorld copies.
var template string

func TestMain(m *testing.M) { os.Exit(withTemplate(m)) }

func withTemplate(m *testing.M) int {
	dir, err := os.MkdirTemp("", "worktree-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	template = dir
	return m.Run()
}

// makeTemplate makes a repository with a few files and one commit.
var makeTemplate = sync.OnceValue(func() error {
	w := &world{home: template, dir: template}
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "src/main.go": "package main\n\nfunc main() {}\n", "src/deep/x.txt": "deep\n",
		"tool.sh": "#!/bin/sh\necho hi\n", ".gitignore": "ignored/\n*.log\n.env\n",
	} {
		if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if name == "tool.sh" {
			mode = 0o755
		}
		if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
			return err
		}
	}
	if err := os.Symlink("a.txt", w.path("link")); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		if out, err := w.userGit(template, args...); err != nil {
			return fmt.Errorf("git %q: %w\n%s", args, err, out)
		}
	}
	return errors.Join(os.MkdirAll(w.path(".git/hooks"), 0o755), os.MkdirAll(w.path(".git/info"), 0o755))
})

// newWorld makes a copy of the template: a repository with one commit.
func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "home", "my project"), books: map[turn.SessionID]*book{}}
	w.must(makeTemplate())
	w.must(os.MkdirAll(w.home, 0o755))
	w.must(os.CopyFS(w.dir, os.DirFS(template)))
	w.keeper()
	return w
}

// keeper opens the world's Keeper anew, as after a restart.
func (w *world) keeper() {
	w.t.Helper()
	paths, err := protected.New(protected.Config{Home: w.home, State: filepath.Join(w.home, "state")})
	w.must(err)
	w.k, err = New(w.t.Context(), Config{Scratch: filepath.Join(w.home, "scratch"), Home: w.home, Protected: paths})
	w.must(err)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) { writeIn(w.t, w.dir, name, text) }

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readIn(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// userGit is git as the user runs it: with the user's home and settings.
func (w *world) userGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) gitIn(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.userGit(dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.dir, args...)
}

func (w *world) commit(message string) {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", message)
}

// settled lets the user's git write its index once more, so that no file is
// younger than it: what follows depends on no clock.
func (w *world) settled() {
	w.t.Helper()
	w.git("status")
}

var sessions atomic.Int64

func newSession() turn.SessionID { return turn.SessionID(fmt.Sprintf("ses_test%06d", sessions.Add(1))) }

func (w *world) plan(source Source, session turn.SessionID) Plan {
	return PlanFor(filepath.Join(w.home, ".deckhand", "worktrees"), source, session)
}

func (w *world) inspect() Source {
	w.t.Helper()
	source, err := w.k.Inspect(w.t.Context(), w.dir)
	w.must(err)
	return source
}

// create makes a worktree of the world's repository.
func (w *world) create() Tree {
	w.t.Helper()
	source := w.inspect()
	tree, err := w.k.Create(w.t.Context(), source, w.plan(source, newSession()))
	w.must(err)
	return tree
}

// refused checks that err is a refusal with a code, whose public detail names
// each of the words, and no private path.
func refused(t *testing.T, err error, code turn.Code, words ...string) {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if !ok {
		t.Fatalf("not refused: %v", err)
	}
	if r.Code != code {
		t.Errorf("code %s and not %s: %v", r.Code, code, err)
	}
	for _, word := range words {
		if !strings.Contains(r.Detail, word) {
			t.Errorf("the detail %q does not say %q", r.Detail, word)
		}
	}
	for _, private := range []string{"scratch", "bench-", ".git/", "fatal:", "exit status"} {
		if strings.Contains(r.Detail, private) {
			t.Errorf("the detail %q tells of %q", r.Detail, private)
		}
	}
}

// picture is everything below a directory: type, mode, content, and where
// links lead.
type picture map[string]string

func pictureOf(t *testing.T, dir string) picture {
	t.Helper()
	p := picture{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			text += " " + hex.EncodeToString(sum[:])
			if !strings.Contains(path, "/objects/") {
				// Git freshens the times of objects that it uses.
				text += fmt.Sprint(" ", info.ModTime().UnixNano())
			}
		}
		p[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// differences lists what differs between two pictures.
func (p picture) differences(q picture) []string {
	all := map[string]bool{}
	for name := range p {
		all[name] = p[name] == q[name]
	}
	for name := range q {
		all[name] = p[name] == q[name]
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return all[name] })
}

// mayGain are what a Git directory may gain by worktrees of ours.
func mayGain(name string) bool {
	for _, place := range []string{"worktrees", "refs/heads/deckhand", "objects"} {
		if strings.HasSuffix(name, "/"+place) || strings.Contains(name, "/"+place+"/") {
			return true
		}
	}
	return false
}

// mayLose are those of them that are ours alone: the rest, such as the index of
// the user's own linked worktree, stays as it is.
func mayLose(name string) bool {
	return strings.Contains(name, "ses_test") || strings.HasSuffix(name, "/worktrees") || strings.HasSuffix(name, "/refs/heads/deckhand")
}

// untouched runs use and checks that the source, its Git directories and all
// else in the home but ours is, byte for byte and to the times of its files,
// what it was, and that git status says the same.
func (w *world) untouched(use func()) {
	w.t.Helper()
	w.settled()
	status := w.status()
	before := pictureOf(w.t, w.home)
	use()
	after := pictureOf(w.t, w.home)
	for _, name := range before.differences(after) {
		first, _, _ := strings.Cut(name, "/")
		if _, was := before[name]; first != "scratch" && first != ".deckhand" && (!mayGain(name) || was && !mayLose(name)) {
			w.t.Errorf("%s changed: %q, then %q", name, before[name], after[name])
		}
	}
	if now := w.status(); now != status {
		w.t.Errorf("git status says %q and not %q", now, status)
	}
}

// status is what the user's git says, which looks and does not write: of HEAD,
// index and files.
func (w *world) status() string {
	w.t.Helper()
	return w.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored")
}

// cleanIn checks that the user's git finds nothing to say about a worktree.
func (w *world) cleanIn(dir string) {
	w.t.Helper()
	if out := w.gitIn(dir, "--no-optional-locks", "status", "--porcelain"); out != "" {
		w.t.Errorf("git status in the worktree: %s", out)
	}
}

// sameFiles compares two checkouts but for their .git, and but for some files
// of a.
func sameFiles(t *testing.T, a, b string, but ...string) {
	t.Helper()
	left, right := filesOf(t, a), filesOf(t, b)
	for _, name := range but {
		delete(left, name)
	}
	for name := range left {
		if left[name] != right[name] {
			t.Errorf("%q: %.60q and then %.60q", name, left[name], right[name])
		}
	}
	for name := range right {
		if _, ok := left[name]; !ok {
			t.Errorf("%q is only in %s", name, b)
		}
	}
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			files[name] = "-> " + target
		default:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[name] = fmt.Sprint(info.Mode().Perm()&0o100, " ", string(bytes.Clone(text)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
