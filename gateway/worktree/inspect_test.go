package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/turn"
)

// Each makes a repository into one that a worktree cannot be made of, and says
// how it is refused. The directory that is asked for is the repository's unless
// another one is given.
var unfit = []struct {
	name  string
	make  func(w *world) (dir string)
	code  turn.Code
	words []string
}{
	{"no repository", func(w *world) string { return w.home }, turn.WorkingDirectoryInvalid, []string{"not a Git repository", "direct_write"}},
	{"nothing there", func(w *world) string { return w.path("nothing") }, turn.WorkingDirectoryInvalid, []string{"does not exist"}},
	{"a file", func(w *world) string { return w.path("a.txt") }, turn.WorkingDirectoryInvalid, []string{"not a directory"}},
	{"below the top level", func(w *world) string { return w.path("src/deep") }, turn.WorkingDirectoryInvalid, []string{"top level", "my project"}},
	{"the Git directory", func(w *world) string { return w.path(".git") }, turn.WorkingDirectoryInvalid, []string{"Git directory"}},
	{"bare", func(w *world) string {
		w.gitIn(w.home, "clone", "-q", "--bare", w.dir, "bare.git")
		return filepath.Join(w.home, "bare.git")
	}, turn.WorkingDirectoryInvalid, []string{"bare"}},
	{"bare behind a .git file", func(w *world) string {
		w.gitIn(w.home, "clone", "-q", "--bare", w.dir, "hub/.bare")
		writeIn(w.t, filepath.Join(w.home, "hub"), ".git", "gitdir: ./.bare\n")
		return filepath.Join(w.home, "hub")
	}, turn.WorkingDirectoryInvalid, []string{"bare"}},
	{"a .git file that leads nowhere", func(w *world) string {
		writeIn(w.t, filepath.Join(w.home, "odd"), ".git", "gitdir: ../nowhere\n")
		return filepath.Join(w.home, "odd")
	}, turn.WorkingDirectoryInvalid, []string{"Git"}},
	{"no commit", func(w *world) string {
		w.git("checkout", "-q", "--orphan", "new")
		return ""
	}, turn.WorkingDirectoryInvalid, []string{"no commit"}},
	{"broken configuration", func(w *world) string {
		w.write(".git/config", "[core\n")
		return ""
	}, turn.WorkingDirectoryInvalid, nil},
	{"changed", func(w *world) string {
		w.write("a.txt", "changed\n")
		return ""
	}, turn.RepositoryNotClean, []string{"1 tracked file", "a.txt", "commit or stash"}},
	{"changed without a trace in size and time", func(w *world) string {
		long := time.Unix(1e9, 0)
		w.must(os.Chtimes(w.path("a.txt"), long, long))
		w.settled()
		w.write("a.txt", strings.Replace(readIn(w.t, w.dir, "a.txt"), "one", "eno", 1))
		w.must(os.Chtimes(w.path("a.txt"), long, long))
		// The index is as old as the file: its time does not tell.
		w.must(os.Chtimes(w.path(".git/index"), long, long))
		w.git("config", "core.trustctime", "false")
		return ""
	}, turn.RepositoryNotClean, []string{"a.txt"}},
	{"executable bit", func(w *world) string {
		w.must(os.Chmod(w.path("a.txt"), 0o755))
		return ""
	}, turn.RepositoryNotClean, []string{"a.txt"}},
	{"deleted", func(w *world) string {
		w.must(os.Remove(w.path("a.txt")))
		return ""
	}, turn.RepositoryNotClean, []string{"a.txt"}},
	{"staged", func(w *world) string {
		w.write("a.txt", "changed\n")
		w.git("add", "a.txt")
		return ""
	}, turn.RepositoryNotClean, []string{"a.txt"}},
	{"staged and taken back in the file", func(w *world) string {
		text := readIn(w.t, w.dir, "a.txt")
		w.write("a.txt", "changed\n")
		w.git("add", "a.txt")
		w.write("a.txt", text)
		return ""
	}, turn.RepositoryNotClean, []string{"a.txt"}},
	{"intent to add", func(w *world) string {
		w.write("later.txt", "x\n")
		w.git("add", "-N", "later.txt")
		return ""
	}, turn.RepositoryNotClean, []string{"later.txt"}},
	{"untracked", func(w *world) string {
		w.write("new dir/new, file.txt", "x\n")
		return ""
	}, turn.RepositoryNotClean, []string{`"new dir/new, file.txt"`, "ignore"}},
	{"many untracked", func(w *world) string {
		for _, n := range "abcdefgh" {
			w.write("n"+string(n), "x\n")
		}
		return ""
	}, turn.RepositoryNotClean, []string{"8 files", "and 3 more"}},
	{"untracked repository", func(w *world) string {
		w.gitIn(w.dir, "init", "-q", "nested")
		return ""
	}, turn.RepositoryNotClean, []string{"nested"}},
	{"assume-unchanged hides a change", func(w *world) string {
		w.git("update-index", "--assume-unchanged", "a.txt")
		w.write("a.txt", "changed\n")
		return ""
	}, turn.RepositoryNotClean, []string{"assume-unchanged", "a.txt"}},
	{"skip-worktree hides a change", func(w *world) string {
		w.git("update-index", "--skip-worktree", "a.txt")
		w.write("a.txt", "changed\n")
		return ""
	}, turn.RepositoryNotClean, []string{"skip-worktree", "a.txt"}},
	{"sparse", func(w *world) string {
		w.git("sparse-checkout", "set", "src")
		w.git("sparse-checkout", "list")
		w.must(os.RemoveAll(w.path("sub")))
		w.git("sparse-checkout", "set", "--no-cone", "/src/")
		return ""
	}, turn.RepositoryUnsupported, []string{"sparse", "disable"}},
	{"sparse with a sparse index", func(w *world) string {
		w.git("sparse-checkout", "set", "--cone", "--sparse-index", "nowhere")
		return ""
	}, turn.RepositoryUnsupported, []string{"sparse"}},
	{"submodule", func(w *world) string {
		w.submodule()
		return ""
	}, turn.RepositoryUnsupported, []string{"submodules", "sub", "direct_write"}},
	{"submodule that is not checked out", func(w *world) string {
		w.submodule()
		w.git("submodule", "deinit", "-q", "-f", "sub")
		return ""
	}, turn.RepositoryUnsupported, []string{"submodules", "sub"}},
	{"submodule with changes", func(w *world) string {
		w.submodule()
		w.write("sub/f", "changed\n")
		return ""
	}, turn.RepositoryUnsupported, []string{"submodules", "sub"}},
	{"merge", func(w *world) string {
		w.git("checkout", "-q", "-b", "other")
		w.write("a.txt", "other\n")
		w.commit("other")
		w.git("checkout", "-q", "main")
		w.write("a.txt", "main\n")
		w.commit("main")
		w.userGit(w.dir, "merge", "other")
		return ""
	}, turn.RepositoryNotClean, []string{"merge", "abort"}},
	{"bisect", func(w *world) string {
		w.git("bisect", "start")
		return ""
	}, turn.RepositoryNotClean, []string{"bisect"}},
	{"rebase", func(w *world) string {
		w.write("a.txt", "2\n")
		w.commit("second")
		w.userGit(w.dir, "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "HEAD^")
		return ""
	}, turn.RepositoryNotClean, []string{"rebase"}},
	{"locked index", func(w *world) string {
		w.write(".git/index.lock", "")
		return ""
	}, turn.RepositoryNotClean, []string{"another Git command"}},
	{"protected files", func(w *world) string {
		home := w.home
		w.gitIn(home, "init", "-q", "-b", "main")
		writeIn(w.t, home, ".ssh/id_ed25519", "key\n")
		w.gitIn(home, "add", ".ssh")
		w.gitIn(home, "commit", "-qm", "dotfiles")
		writeIn(w.t, home, ".git/info/exclude", "*\n")
		return home
	}, turn.ProtectedPath, []string{".ssh/id_ed25519"}},
	{"twins on a file system that ignores case", func(w *world) string {
		w.write("A.TXT", "x\n")
		w.commit("twins")
		w.git("config", "core.ignorecase", "true")
		return ""
	}, turn.RepositoryUnsupported, []string{"case"}},
}

// submodule commits another repository below sub.
func (w *world) submodule() {
	w.t.Helper()
	w.gitIn(w.home, "init", "-q", "-b", "main", "inner")
	inner := filepath.Join(w.home, "inner")
	writeIn(w.t, inner, "f", "x\n")
	w.gitIn(inner, "add", "f")
	w.gitIn(inner, "commit", "-qm", "inner")
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
	w.git("commit", "-qm", "submodule")
}

func TestUnfitSourcesAreRefusedWithAReasonAndLeftAlone(t *testing.T) {
	for _, c := range unfit {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settled()
			dir := c.make(w)
			if dir == "" {
				dir = w.dir
			}
			before := pictureOf(t, w.home)
			_, err := w.k.Inspect(t.Context(), dir)
			refused(t, err, c.code, c.words...)
			for _, name := range before.differences(pictureOf(t, w.home)) {
				if name != "scratch" {
					t.Errorf("%s changed", name)
				}
			}
		})
	}
}

// Each is a repository that a worktree can be made of although it is unusual.
// The worktree is clean for the user's git and holds what the source holds.
var fit = []struct {
	name string
	make func(w *world)
}{
	{"linked worktree", func(w *world) {
		w.git("worktree", "add", "-q", filepath.Join(w.home, "linked"), "-b", "linked")
		w.dir = filepath.Join(w.home, "linked")
	}},
	{"linked worktree of a bare repository", func(w *world) {
		w.gitIn(w.home, "clone", "-q", "--bare", w.dir, "bare.git")
		w.gitIn(filepath.Join(w.home, "bare.git"), "worktree", "add", "-q", filepath.Join(w.home, "linked"), "main")
		w.dir = filepath.Join(w.home, "linked")
	}},
	{"a submodule itself", func(w *world) {
		w.gitIn(w.home, "init", "-q", "outer")
		outer := filepath.Join(w.home, "outer")
		w.gitIn(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", w.dir, "sub")
		w.dir = filepath.Join(outer, "sub")
	}},
	{"separate Git directory", func(w *world) { w.git("init", "-q", "--separate-git-dir", filepath.Join(w.home, "apart.git")) }},
	{"reached over a link", func(w *world) {
		w.must(os.Symlink(w.dir, filepath.Join(w.home, "short")))
		w.dir = filepath.Join(w.home, "short")
	}},
	{"detached HEAD", func(w *world) { w.git("checkout", "-q", "--detach") }},
	{"packed", func(w *world) { w.git("gc", "-q") }},
	{"split index", func(w *world) { w.git("update-index", "--split-index") }},
	{"untracked cache", func(w *world) { w.git("update-index", "--force-untracked-cache") }},
	{"assume-unchanged that hides nothing", func(w *world) { w.git("update-index", "--assume-unchanged", "a.txt") }},
	{"skip-worktree that hides nothing", func(w *world) { w.git("update-index", "--skip-worktree", "a.txt") }},
	{"touched", func(w *world) {
		w.must(os.Chtimes(w.path("a.txt"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	}},
	{"ignored by info/exclude", func(w *world) {
		w.write(".git/info/exclude", "private\n")
		w.write("private", "x")
		w.must(os.Remove(w.path("private")))
	}},
	{"eol=crlf", func(w *world) {
		w.write(".gitattributes", "*.txt text eol=crlf\n")
		w.commit("attributes")
		w.must(os.Remove(w.path("a.txt")))
		w.must(os.Remove(w.path("src/deep/x.txt")))
		w.git("checkout", "-q", ".")
		if readIn(w.t, w.dir, "a.txt") != "one\r\ntwo\r\nthree\r\n" {
			w.t.Fatal("no CRLF")
		}
	}},
	{"core.autocrlf of the user", func(w *world) {
		w.git("config", "--global", "core.autocrlf", "true")
		w.must(os.Remove(w.path("a.txt")))
		w.git("checkout", "-q", ".")
		if readIn(w.t, w.dir, "a.txt") != "one\r\ntwo\r\nthree\r\n" {
			w.t.Fatal("no CRLF")
		}
		for name := range filesOf(w.t, w.dir) {
			w.must(os.Remove(w.path(name)))
		}
		w.git("checkout", "-q", ".")
	}},
	{"ident", func(w *world) {
		w.write(".gitattributes", "*.id ident\n")
		w.write("x.id", "$Id$\n")
		w.commit("ident")
		w.must(os.Remove(w.path("x.id")))
		w.git("checkout", "-q", ".")
		if !strings.Contains(readIn(w.t, w.dir, "x.id"), "$Id: ") {
			w.t.Fatal("no ident")
		}
	}},
	{"working-tree-encoding", func(w *world) {
		w.write(".gitattributes", "*.u16 text working-tree-encoding=UTF-16LE\n")
		w.write("x.u16", "h\x00\xe9\x00\n\x00")
		w.commit("encoding")
	}},
	{"CRLF in the repository", func(w *world) {
		w.write("dos.txt", "a\r\nb\r\nc\n")
		w.commit("mixed line ends")
	}},
	{"SHA-256", func(w *world) {
		w.dir = filepath.Join(w.home, "sha256")
		w.gitIn(w.home, "init", "-q", "--object-format=sha256", "sha256")
		w.write("f", "x\n")
		w.commit("first")
	}},
	{"shallow", func(w *world) {
		w.write("a.txt", "2\n")
		w.commit("second")
		w.gitIn(w.home, "clone", "-q", "--depth=1", "file://"+w.dir, "shallow")
		w.dir = filepath.Join(w.home, "shallow")
	}},
	{"borrowed objects", func(w *world) {
		w.gitIn(w.home, "clone", "-q", "--shared", w.dir, "borrower: \"x\"")
		w.dir = filepath.Join(w.home, "borrower: \"x\"")
	}},
	{"odd names", func(w *world) {
		for _, name := range []string{"with blank", "tab\there", "line\nbreak", "ünïcödé/日本語.txt", "quote\"s", "-dash", ":colon", "back\\slash", "*star?[x]", "\xff\xfe", " lead", "trail ", "a/b/c/d/e"} {
			w.write(name, name)
		}
		w.commit("odd names")
	}},
	{"links that lead out", func(w *world) {
		w.must(os.Symlink("/etc/passwd", w.path("abs")))
		w.must(os.Symlink("../../..", w.path("src/up")))
		w.must(os.Symlink("nowhere", w.path("dangling")))
		w.commit("links")
	}},
	{"replaced commit", func(w *world) {
		w.write("a.txt", "2\n")
		w.commit("second")
		w.git("replace", "HEAD", w.git("commit-tree", "HEAD^{tree}", "-m", "other")[:40])
	}},
	{"LFS pointers without LFS", func(w *world) {
		w.write(".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n")
		w.write("big.psd", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("0", 64)+"\nsize 12\n")
		w.commit("pointer")
	}},
	{"an ignored .env and ignored folders", func(w *world) {
		w.write(".env", "SECRET=1\n")
		w.write("src/.env", "SECRET=2\n")
		w.write("ignored/node_modules/x.js", "x\n")
		w.ignored = []string{".env", "src/.env", "ignored/node_modules/x.js"}
	}},
	{"a large file", func(w *world) {
		w.write("large.bin", strings.Repeat("0123456789abcdef", 1<<20))
		w.commit("large")
	}},
	{"an empty commit", func(w *world) {
		w.git("rm", "-rq", ".")
		w.git("commit", "-qm", "nothing")
	}},
}

func TestUnusualRepositoriesGetFaithfulWorktrees(t *testing.T) {
	for _, c := range fit {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.make(w)
			// A whole session leaves the source as it was, to its index and HEAD.
			w.untouched(func() {
				tree := w.create()
				w.cleanIn(tree.Path)
				sameFiles(t, w.dir, tree.Path, w.ignored...)
				if got := strings.TrimSpace(w.gitIn(tree.Path, "rev-parse", "HEAD")); got != string(tree.Commit) {
					t.Errorf("HEAD is %s and not %s", got, tree.Commit)
				}
				writeIn(t, tree.Path, "work.txt", "work\n")
				changes, err := w.k.Diff(t.Context(), tree, 1<<16)
				w.must(err)
				if len(changes.Files) != 1 || changes.Files[0] != (FileChange{Path: "work.txt", Kind: Added, Added: 1}) {
					t.Errorf("changes: %+v", changes.Files)
				}
				_, err = w.k.Commit(t.Context(), tree, "work")
				w.must(err)
				w.cleanIn(tree.Path)
				w.must(w.remove(tree, false))
			})
		})
	}
}

func TestFilesThatAFilterKeepsAreShownAsGitStoresThemAndNoted(t *testing.T) {
	w := newWorld(t)
	w.write(".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 12\n"
	w.write("art/big.psd", pointer)
	w.commit("pointer")
	// The user's checkout holds the real file, which Git takes for the pointer.
	w.git("config", "filter.lfs.clean", "cat >/dev/null; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:"+strings.Repeat("0", 64)+"\\nsize 12\\n'")
	w.write("art/big.psd", "real content")
	w.must(os.Chtimes(w.path("art/big.psd"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	w.git("add", "art/big.psd")
	source := w.inspect()
	if len(source.Notes) != 1 || !strings.Contains(source.Notes[0], "art/big.psd") || !strings.Contains(source.Notes[0], "lfs") {
		t.Errorf("notes: %q", source.Notes)
	}
	var tree Tree
	w.untouched(func() { tree = w.create() })
	if got := readIn(t, tree.Path, "art/big.psd"); got != pointer {
		t.Errorf("the worktree holds %q", got)
	}
	w.cleanIn(tree.Path)

	// What would need the filter is refused, by name; the rest goes home.
	writeIn(t, tree.Path, "art/big.psd", "painted")
	writeIn(t, tree.Path, "art/new.psd", "new picture")
	writeIn(t, tree.Path, "a.txt", "one\n")
	_, err := w.k.Commit(t.Context(), tree, "art")
	refused(t, err, turn.RepositoryUnsupported, "art/big.psd", "filter")
	report, err := w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) != 1 || report.Conflicts[0].Path != "art/big.psd" || !strings.Contains(report.Conflicts[0].Reason, "filter") {
		t.Errorf("conflicts: %+v", report.Conflicts)
	}
	writeIn(t, tree.Path, "art/big.psd", pointer)
	report, err = w.k.Apply(t.Context(), tree, false)
	w.must(err)
	if len(report.Conflicts) != 0 || readIn(t, w.dir, "art/new.psd") != "new picture" || readIn(t, w.dir, "art/big.psd") != "real content" {
		t.Errorf("report: %+v", report)
	}
}

func TestTheUsersOwnIgnoreFileCounts(t *testing.T) {
	w := newWorld(t)
	writeIn(t, w.home, ".config/git/ignore", ".DS_Store\n")
	w.write("src/.DS_Store", "x")
	w.untouched(func() { w.inspect() })
	w.git("config", "--global", "core.excludesFile", "~/.ignore")
	_, err := w.k.Inspect(t.Context(), w.dir)
	refused(t, err, turn.RepositoryNotClean, ".DS_Store")
	writeIn(t, w.home, ".ignore", ".DS_Store\n")
	w.inspect()
}

func TestUnnormalisedFilesAreRefusedByName(t *testing.T) {
	w := newWorld(t)
	w.write("dos.txt", "a\r\nb\r\n")
	w.commit("CRLF stored")
	w.write(".gitattributes", "dos.txt text\n")
	w.git("add", ".gitattributes")
	w.git("commit", "-qm", "attributes")
	source := Source{Dir: w.dir, CommonDir: w.path(".git"), Commit: OID(strings.TrimSpace(w.git("rev-parse", "HEAD")))}
	_, err := w.k.Create(t.Context(), source, w.plan(source, newSession()))
	refused(t, err, turn.RepositoryUnsupported, "dos.txt", "renormalize")
}

func TestObjectsThatAreOnAServerAreNotFetched(t *testing.T) {
	w := newWorld(t)
	w.git("config", "uploadpack.allowFilter", "true")
	w.gitIn(w.home, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+w.dir, "partial")
	w.dir = filepath.Join(w.home, "partial")
	source := Source{Dir: w.dir, CommonDir: w.path(".git"), Commit: OID(strings.TrimSpace(w.git("rev-parse", "HEAD")))}
	_, err := w.k.Create(t.Context(), source, w.plan(source, newSession()))
	refused(t, err, turn.RepositoryUnsupported, "partial clone", "--refetch")
}
