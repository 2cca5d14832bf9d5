package worktree

import (
	"bytes"
	"deckhand/gateway/turn"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traps are ways in which a repository can make git run a program. Each sets
// one, which makes a marker file; fire shows that the user's own git falls into
// it, without which the test would say nothing.
var traps = []struct {
	name string
	// group keeps traps apart that hide one another.
	group int
	set   func(w *world, program string)
	fire  func(w *world)
}{
	{"core.fsmonitor", 0,
		func(w *world, program string) { w.git("config", "core.fsmonitor", program) },
		func(w *world) { w.userGit(w.dir, "status") }},
	{"hooks in the repository", 0,
		func(w *world, program string) {
			for _, name := range hookNames {
				w.must(os.Symlink(program, w.path(".git/hooks/"+name)))
			}
		},
		func(w *world) { w.userGit(w.dir, "worktree", "add", "-f", filepath.Join(w.home, "trap")) }},
	{"core.hooksPath", 1,
		func(w *world, program string) {
			for _, name := range hookNames {
				w.must(os.MkdirAll(filepath.Join(w.home, "hooks"), 0o755))
				w.must(os.Symlink(program, filepath.Join(w.home, "hooks", name)))
			}
			w.git("config", "core.hooksPath", filepath.Join(w.home, "hooks"))
		},
		func(w *world) { w.userGit(w.dir, "update-ref", "refs/heads/trap", "HEAD") }},
	{"smudge filter", 0,
		func(w *world, program string) { w.git("config", "filter.trap.smudge", program+" %f") },
		func(w *world) { w.userGit(w.dir, "worktree", "add", "-f", filepath.Join(w.home, "trap")) }},
	{"clean filter", 0,
		func(w *world, program string) { w.git("config", "filter.trap.clean", program) },
		func(w *world) { w.userGit(w.dir, "hash-object", "filtered.bin") }},
	{"process filter", 1,
		func(w *world, program string) {
			w.git("config", "filter.trap.process", program)
			w.git("config", "filter.trap.required", "true")
		},
		func(w *world) { w.userGit(w.dir, "hash-object", "filtered.bin") }},
	{"diff.external", 0,
		func(w *world, program string) { w.git("config", "diff.external", program) },
		func(w *world) { w.userGit(w.dir, "diff", "HEAD^") }},
	{"diff driver", 0,
		func(w *world, program string) { w.git("config", "diff.trap.command", program) },
		func(w *world) { w.userGit(w.dir, "diff", "HEAD^") }},
	{"textconv", 0,
		func(w *world, program string) { w.git("config", "diff.trap.textconv", program) },
		func(w *world) { w.userGit(w.dir, "diff", "HEAD^") }},
	{"merge driver", 0,
		func(w *world, program string) { w.git("config", "merge.trap.driver", program+" %A") },
		func(w *world) {
			w.git("checkout", "-q", "-b", "trap", "HEAD^")
			w.write("a.txt", lines(1, "other"))
			w.git("commit", "-aqm", "other")
			w.userGit(w.dir, "merge", "main")
		}},
	{"include.path", 1,
		func(w *world, program string) {
			w.write(".git/more", "[core]\n\tfsmonitor = "+program+"\n")
			w.git("config", "include.path", "more")
		},
		func(w *world) { w.userGit(w.dir, "status") }},
	{"worktree config", 2,
		func(w *world, program string) {
			w.git("config", "extensions.worktreeConfig", "true")
			w.git("config", "--worktree", "core.fsmonitor", program)
		},
		func(w *world) { w.userGit(w.dir, "status") }},
	{"signing", 0,
		func(w *world, program string) {
			w.git("config", "gpg.program", program)
			w.git("config", "commit.gpgSign", "true")
		},
		func(w *world) { w.userGit(w.dir, "commit", "--allow-empty", "-m", "signed") }},
	{"alias", 0,
		func(w *world, program string) {
			for _, verb := range []string{"trap", "worktree", "rev-parse", "config", "update-index"} {
				w.git("config", "alias."+verb, "!"+program)
			}
		},
		func(w *world) { w.userGit(w.dir, "trap") }},
	{"editor", 0,
		func(w *world, program string) { w.git("config", "core.editor", program) },
		func(w *world) { w.userGit(w.dir, "commit", "--allow-empty") }},
	{"lazy fetch over ssh", 0,
		func(w *world, program string) {
			promise(w, "ssh://host/x")
			w.git("config", "core.sshCommand", program)
		},
		func(w *world) { w.userGit(w.dir, "cat-file", "-p", strings.Repeat("1", 40)) }},
	{"lazy fetch over ext::", 1,
		func(w *world, program string) {
			promise(w, "ext::"+program)
			w.git("config", "protocol.ext.allow", "always")
		},
		func(w *world) { w.userGit(w.dir, "cat-file", "-p", strings.Repeat("1", 40)) }},
	{"filter from info/attributes", 0,
		func(w *world, program string) {
			w.write(".git/info/attributes", "*.go filter=inside\n")
			w.git("config", "filter.inside.clean", program)
		},
		func(w *world) { w.userGit(w.dir, "hash-object", "src/main.go") }},
}

var hookNames = []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit", "post-merge", "commit-msg",
	"prepare-commit-msg", "pre-auto-gc", "fsmonitor-watchman", "post-rewrite", "pre-merge-commit"}

// promise makes the repository fetch what it misses.
func promise(w *world, url string) {
	w.git("config", "core.repositoryFormatVersion", "1")
	w.git("config", "extensions.partialClone", "origin")
	w.git("config", "remote.origin.url", url)
	w.git("config", "remote.origin.promisor", "true")
	w.git("config", "remote.origin.partialCloneFilter", "blob:none")
}

// lines is a text of twenty lines, one of which is another.
func lines(n int, other string) string {
	all := make([]string, 20)
	for i := range all {
		all[i] = fmt.Sprintf("line %d\n", i)
	}
	all[n] = other + "\n"
	return strings.Join(all, "")
}

// trapped makes a repository with attributes for every driver.
func trapped(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(".gitattributes", "*.bin filter=trap\n*.txt diff=trap merge=trap\n")
	w.write("filtered.bin", "stored\n")
	w.write("a.txt", lines(0, "line 0"))
	w.commit("attributes")
	w.write("a.txt", lines(10, "ten"))
	w.commit("ten")
	return w
}

// arm sets a trap and gives the marker that it makes. Setting it may spring it.
func arm(w *world, n int) (marker string) {
	marker = filepath.Join(w.home, fmt.Sprint("marker", n))
	program := filepath.Join(w.home, fmt.Sprint("trap", n, ".sh"))
	w.must(os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\n: >'%s'\nexit 0\n", marker), 0o755))
	traps[n].set(w, program)
	return marker
}

// work does everything that this package can do, while the source moves on.
func (w *world) work() {
	w.t.Helper()
	ctx := w.t.Context()
	tree := w.create()
	writeIn(w.t, tree.Path, "a.txt", strings.Replace(readIn(w.t, tree.Path, "a.txt"), "e", "E", 1))
	writeIn(w.t, tree.Path, "src/main.go", "package main\n\nfunc main() { println() }\n")
	writeIn(w.t, tree.Path, "new/file.txt", "new\n")
	writeIn(w.t, tree.Path, "new/file.bin", "new\n")
	_, err := w.k.Diff(ctx, tree, 1<<20)
	w.must(err)
	w.must(w.k.Patch(ctx, tree, &bytes.Buffer{}))
	w.must(w.k.Verify(ctx, tree))
	_, err = w.k.List(ctx, w.dir)
	w.must(err)
	report, err := w.k.Apply(ctx, tree, false)
	w.must(err)
	for _, c := range report.Conflicts {
		if c.Path != "src/main.go" || !strings.Contains(c.Reason, "filter") {
			w.t.Errorf("conflict: %+v", c)
		}
	}
	if _, err := w.k.Commit(ctx, tree, "work"); err != nil {
		refused(w.t, err, turn.RepositoryUnsupported, "filter")
	}
	w.must(os.RemoveAll(filepath.Join(tree.Path, "new")))
	if _, err := w.k.Commit(ctx, tree, "work"); err != nil {
		refused(w.t, err, turn.RepositoryUnsupported, "filter")
	}
	w.must(w.remove(tree, true))
}

func TestNothingThatARepositorySaysIsExecuted(t *testing.T) {
	for group := range 3 {
		w := trapped(t)
		markers := map[string]string{}
		for n, trap := range traps {
			if trap.group == group {
				markers[trap.name] = arm(w, n)
			}
		}
		for _, marker := range markers {
			os.Remove(marker)
		}
		w.work()
		for name, marker := range markers {
			if _, err := os.Lstat(marker); err == nil {
				t.Errorf("%s: the trap was sprung by us", name)
			}
		}
	}
}

func TestEachTrapIsOne(t *testing.T) {
	for n, trap := range traps {
		w := trapped(t)
		marker := arm(w, n)
		os.Remove(marker)
		trap.fire(w)
		if _, err := os.Lstat(marker); err != nil {
			t.Errorf("%s: the user's git does not fall into it", trap.name)
		}
	}
}

func TestASubmodulesOwnTrapsAreNotSprung(t *testing.T) {
	w := trapped(t)
	marker := arm(w, 0)
	w.git("config", "--unset", "core.fsmonitor")
	program := filepath.Join(w.home, "trap0.sh")
	w.submodule()
	w.gitIn(w.path("sub"), "config", "core.fsmonitor", program)
	os.Remove(marker)
	_, err := w.k.Inspect(t.Context(), w.dir)
	refused(t, err, turn.RepositoryUnsupported, "submodules", "sub", "direct_write")
	if _, err := os.Lstat(marker); err == nil {
		t.Error("the trap was sprung by us")
	}
	w.userGit(w.dir, "status")
	if _, err := os.Lstat(marker); err != nil {
		t.Error("the user's git does not fall into it")
	}
}

// Newer versions of Git run hooks that the configuration names. The last
// command of a name wins, and ours is the last.
func TestHooksOfTheConfigurationAreNeutralised(t *testing.T) {
	w := newWorld(t)
	w.git("config", "hook.a.b.event", "post-checkout")
	w.git("config", "hook.a.b.command", "touch x")
	repo, err := w.k.locate(t.Context(), w.dir)
	w.must(err)
	out, err := w.k.run.run(t.Context(), func() command { return repo.command("config", "--get", "hook.a.b.command") }())
	w.must(err)
	if strings.TrimSpace(string(out)) != ":" {
		t.Errorf("the hook runs %q", out)
	}
}

func TestTheGatewaysEnvironmentDoesNotReachGit(t *testing.T) {
	w := newWorld(t)
	marker := filepath.Join(w.home, "marker")
	for name, value := range map[string]string{
		"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": filepath.Join(w.home, "index"), "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "touch " + marker, "GIT_EXTERNAL_DIFF": "touch " + marker,
		"GIT_TRACE": marker, "GIT_TRACE2": marker, "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=touch " + marker + "'", "GIT_EXEC_PATH": "/nonexistent",
	} {
		t.Setenv(name, value)
	}
	w.work()
	for _, path := range []string{marker, filepath.Join(w.home, "index")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}
