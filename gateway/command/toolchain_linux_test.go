package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// env0 is the environment that commands of this world share.
func (w *world) env0(t *testing.T) *environment {
	t.Helper()
	env, err := w.environment(t.Context())
	must(t, err)
	return env
}

// find returns where a program is, "" if it is nowhere.
func (e *environment) find(name string) string {
	path, err := e.program(name, "/")
	if err != nil {
		return ""
	}
	return path
}

// Real tools in small projects, on a tree that they cannot write to.
func TestOrdinaryToolchainsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a good part of Go")
	}
	w := newWorld(t)
	w.write("go/go.mod", "module example.org/p\n\ngo 1.24\n", 0o644)
	w.write("go/main.go", "package main\n\nfunc main() { println(Sum(1, 2)) }\n\nfunc Sum(a, b int) int { return a + b }\n", 0o644)
	w.write("go/main_test.go", `package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSum(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if r, err := http.Get(s.URL); err != nil || r.StatusCode != 404 || Sum(1, 2) != 3 {
		t.Fatal(r, err)
	}
}
`, 0o644)
	w.write("py/level.py", "def level(a): return a * 2\n", 0o644)
	w.write("py/test_level.py", "import unittest, level\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(level.level(2), 4)\n", 0o644)
	w.write("node/a.test.js", "const test = require('node:test'), assert = require('node:assert');\ntest('sum', () => assert.equal(1 + 1, 2));\n", 0o644)
	w.write("node/package.json", `{"name": "p", "version": "1.0.0", "scripts": {"test": "node --test"}}`, 0o644)
	w.write("make/Makefile", "all: ; @echo made with $(CC)\nout: ; cc -c -o main.o main.c\n", 0o644)
	w.write("make/main.c", "int main(void) { return 0; }\n", 0o644)
	git := exec.Command("sh", "-c", "git init -q && git add . && git -c user.name=a -c user.email=a@example.org commit -qm first")
	git.Dir = w.project
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	env := w.env0(t)
	for _, c := range []struct {
		dir  string
		argv []string
		says []string
	}{
		{"go", []string{"go", "vet", "./..."}, []string{"Exit status 0"}},
		{"go", []string{"go", "test", "./..."}, []string{"Exit status 0", "ok  \texample.org/p"}},
		{"go", []string{"go", "build"}, []string{"Exit status 1", "a write was refused: " + w.project + "/go/p.", "go build takes -o "}},
		{"go", []string{"sh", "-c", `go build -o "$TMPDIR/p" && "$TMPDIR/p"`}, []string{"Exit status 0", "\n3"}},
		{"py", []string{"python3", "-m", "unittest"}, []string{"Exit status 0", "OK"}},
		{"node", []string{"node", "--test"}, []string{"Exit status 0", "pass 1"}},
		{"node", []string{"npm", "test"}, []string{"Exit status 0", "pass 1"}},
		{"make", []string{"make"}, []string{"Exit status 0", "made with cc"}},
		{"make", []string{"make", "out"}, []string{"Exit status 2", "a write was refused: " + w.project + "/make/main.o.", "cp -R"}},
		{"make", []string{"sh", "-c", `cp -R . "$TMPDIR/copy" && cd "$TMPDIR/copy" && make out && ls`}, []string{"Exit status 0", "main.o"}},
		{"", []string{"git", "status"}, []string{"Exit status 0", "nothing to commit"}},
		{"", []string{"git", "log", "--oneline"}, []string{"Exit status 0", "first"}},
		{"", []string{"git", "commit", "--allow-empty", "-m", "x"}, []string{"Git can be read here"}},
		{"", []string{"sed", "-n", "1p", "py/level.py"}, []string{"Exit status 0", "def level"}},
		{"", []string{"rg", "--no-config", "level", "py"}, []string{"Exit status 0", "test_level.py"}},
		{"", []string{"jq", "-r", ".name", "node/package.json"}, []string{"Exit status 0", "\np"}},
	} {
		if env.find(c.argv[0]) == "" {
			t.Errorf("%s is missing; make setup-test installs it", c.argv[0])
			continue
		}
		call := w.call(c.argv...)
		call.Dir = filepath.Join(w.project, c.dir)
		call.Timeout = MaxTimeout
		r := w.do(t.Context(), call)
		for _, part := range c.says {
			if !strings.Contains(r.Text, part) {
				t.Errorf("%q does not say %q:\n%s", c.argv, part, r.Text)
			}
		}
	}
	left, err := exec.Command("git", "-C", w.project, "status", "--porcelain", "--ignored").CombinedOutput()
	if err != nil || len(left) > 0 {
		t.Errorf("the tree changed: %v %s", err, left)
	}
}

// Programs and settings of version managers are found through the login shell:
// a node below a folder of versions, and a cargo that is a shim.
func TestVersionManagersOfTheLoginShellAreUsed(t *testing.T) {
	w := newWorld(t)
	node := filepath.Join(w.home, ".nvm/versions/node/v1.2.3/bin")
	cargo := filepath.Join(w.home, ".cargo/bin")
	for path, text := range map[string]string{
		filepath.Join(node, "node"):            "#!/bin/sh\necho node of nvm in $NVM_DIR\n",
		filepath.Join(cargo, "shim"):           "#!/bin/sh\necho \"${0##*/} by $RUSTUP_HOME and $CARGO_HOME, target $CARGO_TARGET_DIR\"\n",
		filepath.Join(w.home, ".rustup/x"):     "",
		filepath.Join(w.home, ".profile"):      "export NVM_DIR=\"$HOME/.nvm\"\nPATH=\"$NVM_DIR/versions/node/v1.2.3/bin:$PATH\"; export PATH\n",
		filepath.Join(w.home, ".bash_history"): "secret",
	} {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	must(t, os.Symlink("shim", filepath.Join(cargo, "cargo")))
	w.Runner = w.runner(nil)
	holds(t, w.ran("node"), "node of nvm in "+w.home+"/.nvm")
	holds(t, w.ran("cargo"), "cargo by "+w.home+"/.rustup and "+w.home+"/.cargo, target "+w.cache)
	holds(t, w.ran("env"), "\nPATH="+node+":")
}
