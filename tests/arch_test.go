package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/runner"
)

const module = "deckhand"

// Modules that may be imported outside of the standard library.
const (
	modBeeep      = "github.com/gen2brain/beeep"
	modBbolt      = "go.etcd.io/bbolt"
	modCobra      = "github.com/spf13/cobra"
	modDBus       = "github.com/godbus/dbus/v5"
	modDiff       = "github.com/aymanbagabas/go-udiff"
	modDoublestar = "github.com/bmatcuk/doublestar/v4"
	modJSON       = "github.com/go-json-experiment/json"
	modSchema     = "github.com/santhosh-tekuri/jsonschema/v6"
	modLandlock   = "github.com/landlock-lsm/go-landlock"
	modLumberjack = "gopkg.in/natefinch/lumberjack.v2"
	modMCP        = "github.com/mark3labs/mcp-go"
	modNotify     = "github.com/esiqveland/notify"
	modSys        = "golang.org/x/sys"
	modSystray    = "fyne.io/systray"
	modText       = "golang.org/x/text"
	modTOML       = "github.com/BurntSushi/toml"
	modUUID       = "github.com/google/uuid"
)

// layer is one package and all that it may import beside the standard library.
type layer struct {
	pkg     string
	imports []string // packages of this module
	modules []string
}

// layers is the architecture: a package imports only what its line lists, and
// only what stands further down. A line, or an import on it, that the source no
// longer has is an error too, so the table says what is.
var layers = []layer{
	// The program: it alone knows both the tray and the gateway, reads files
	// and the environment, and turns errors into exit codes.
	{"app", []string{"app/demo", "gateway", "gateway/admin", "gateway/atomicfile", "gateway/command", "gateway/control", "gateway/ledger", "gateway/protected", "gateway/runner",
		"gateway/sandbox", "gateway/session", "gateway/shim", "gateway/turn", "tray"},
		[]string{modCobra, modLumberjack, modSys, modTOML}},
	{"tray", nil, []string{modBeeep, modDBus, modNotify, modSystray, modText}},

	// The demo is a program of its own that speaks to a gateway from outside:
	// over MCP as ChatGPT does, over the admin socket as a person does.
	{"app/demo", []string{"app/demo/chatgpt", "app/demo/child", "app/demo/process", "assets"}, []string{modSys, modText}},
	{"app/demo/child", []string{"gateway/admin"}, nil},
	{"app/demo/chatgpt", nil, nil},
	{"app/demo/process", nil, nil},
	{"assets", nil, nil},

	// The gateway: gateway puts the parts together, session is the hub that
	// they serve, and ledger is the only one that knows the store.
	{"gateway", []string{"gateway/admin", "gateway/awake", "gateway/command", "gateway/control", "gateway/executor", "gateway/ledger", "gateway/link",
		"gateway/protected", "gateway/runner", "gateway/sandbox", "gateway/session", "gateway/turn", "gateway/worktree"}, nil},
	{"gateway/control", []string{"gateway/session", "gateway/turn"}, []string{modJSON, modSchema, modMCP}},
	{"gateway/admin", []string{"gateway/atomicfile", "gateway/link", "gateway/session", "gateway/turn"}, nil},
	{"gateway/session", []string{"gateway/atomicfile", "gateway/crash", "gateway/executor", "gateway/ledger", "gateway/link", "gateway/runner", "gateway/turn",
		"gateway/worktree"}, []string{modDiff, modJSON, modUUID}},
	{"gateway/ledger", []string{"gateway/atomicfile", "gateway/turn"}, []string{modBbolt}},
	{"gateway/executor", []string{"gateway/command", "gateway/crash", "gateway/protected", "gateway/turn"}, []string{modDoublestar, modJSON, modSchema, modSys, modText}},
	{"gateway/command", []string{"gateway/command/entry", "gateway/protected", "gateway/sandbox", "gateway/turn"}, []string{modSys}},
	{"gateway/command/entry", []string{"gateway/turn"}, nil},
	{"gateway/crash", nil, []string{modSys}},
	{"gateway/awake", nil, []string{modDBus}},
	{"gateway/worktree", []string{"gateway/atomicfile", "gateway/protected", "gateway/turn"}, []string{modSys}},
	{"gateway/protected", nil, []string{modText}},

	// The shim is a process of its own; what it and the gateway share is
	// runner (the run's directory) and link (the protocol).
	{"gateway/shim", []string{"gateway/bridge", "gateway/link", "gateway/runner", "gateway/sandbox", "gateway/turn"}, nil},
	{"gateway/bridge", []string{"gateway/anthropic", "gateway/link", "gateway/turn"}, []string{modJSON}},
	{"gateway/runner", []string{"gateway/atomicfile", "gateway/link", "gateway/scratch", "gateway/turn"}, []string{modJSON, modSys}},
	{"gateway/anthropic", nil, []string{modJSON}},
	{"gateway/link", []string{"gateway/turn"}, []string{modJSON, modSys}},
	{"gateway/sandbox", []string{"gateway/scratch", "gateway/turn"}, []string{modLandlock, modSys}},
	{"gateway/ordinary", nil, nil},
	{"gateway/scratch", nil, []string{modSys}},
	// For the tests of sandbox alone: it reads macOS's profiles.
	{"gateway/sandbox/sbpl", nil, nil},
	// Tests and nothing else: what a command must not get out of.
	{"gateway/sandbox/sandboxtest", nil, nil},
	{"gateway/atomicfile", nil, nil},
	{"gateway/turn", nil, nil},
}

// testModules are what tests may use beside the modules of their package.
var testModules = []string{"github.com/google/go-cmp", "go.uber.org/goleak", "github.com/rogpeppe/go-internal", modJSON, modSchema, modSys, modUUID}

// reserved are modules that only the named packages may import, in tests too:
// one package owns the store, one speaks MCP.
var reserved = map[string][]string{
	modBbolt: {"gateway/ledger"},
	modMCP:   {"gateway/control"},
}

// source is one Go package as it stands in the tree, for every system.
type source struct {
	imports, testImports []string
	comments             []string // package comments of its files, without tests
	name                 string
}

// readTree finds every package of the module.
func readTree(t *testing.T, root string) map[string]*source {
	t.Helper()
	tree := map[string]*source{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root {
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if d.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		if tree[pkg] == nil {
			tree[pkg] = &source{}
		}
		return tree[pkg].add(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// add reads one file, whatever its build constraints.
func (s *source) add(file string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(file, "_test.go")
	for _, spec := range parsed.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		if test {
			s.testImports = append(s.testImports, name)
		} else {
			s.imports = append(s.imports, name)
		}
	}
	if !test {
		s.name = parsed.Name.Name
		if doc := packageComment(parsed); doc != "" {
			s.comments = append(s.comments, doc)
		}
	}
	return nil
}

func packageComment(f *ast.File) string {
	if f.Doc == nil {
		return ""
	}
	return f.Doc.Text()
}

// standard reports whether an import is of the standard library.
func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first != module && !strings.Contains(first, ".")
}

// own gives the package in the tree that an import names.
func own(name string) (pkg string, ok bool) { return strings.CutPrefix(name, module+"/") }

// within reports whether an import is a package of one of the modules.
func within(name string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
}

// isTest reports whether a package is part of the tests, which stand above all.
func isTest(pkg string) bool { return pkg == "tests" || strings.HasPrefix(pkg, "tests/") }

func TestImportsFollowTheTable(t *testing.T) {
	for _, problem := range checkLayers(readTree(t, ".."), layers) {
		t.Error(problem)
	}
}

// checkLayers compares a tree with a table, in both directions.
func checkLayers(tree map[string]*source, layers []layer) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	depth := map[string]int{}
	for i, l := range layers {
		if _, twice := depth[l.pkg]; twice {
			report("%s stands in the table twice", l.pkg)
		}
		depth[l.pkg] = i
		if tree[l.pkg] == nil {
			report("%s stands in the table and not in the tree", l.pkg)
		}
	}
	for pkg, s := range tree {
		i, known := depth[pkg]
		if !known && !isTest(pkg) {
			report("%s is not in the table of layers: say there what it may import", pkg)
			continue
		}
		for name, importers := range reserved {
			if importsModule(append(s.imports, s.testImports...), name) && !slices.Contains(importers, pkg) && !isTest(pkg) {
				report("%s imports %s, which is for %v alone", pkg, name, importers)
			}
		}
		if isTest(pkg) {
			continue
		}
		problems = append(problems, checkImports(layers[i], s, depth)...)
		problems = append(problems, checkTestImports(layers[i], s)...)
	}
	slices.Sort(problems)
	return problems
}

// importsModule reports whether one of the imports is of the module.
func importsModule(imports []string, module string) bool {
	return slices.ContainsFunc(imports, func(name string) bool { return within(name, []string{module}) })
}

func checkImports(l layer, s *source, depth map[string]int) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.imports))) {
		pkg, isOwn := own(name)
		switch {
		case standard(name):
		case isOwn && !slices.Contains(l.imports, pkg):
			report("%s may not import %s", l.pkg, pkg)
		case !isOwn && !within(name, l.modules):
			report("%s may not import %s", l.pkg, name)
		}
	}
	for _, pkg := range l.imports {
		if !slices.Contains(s.imports, module+"/"+pkg) {
			report("%s does not import %s any more: take it out of the table", l.pkg, pkg)
		}
		if depth[pkg] <= depth[l.pkg] {
			report("the arrow from %s to %s points up", l.pkg, pkg)
		}
	}
	for _, m := range l.modules {
		if !importsModule(s.imports, m) {
			report("%s does not import %s any more: take it out of the table", l.pkg, m)
		}
	}
	return problems
}

// checkTestImports: tests may reach further than their package, but not up
// into the program.
func checkTestImports(l layer, s *source) (problems []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.testImports))) {
		pkg, isOwn := own(name)
		switch {
		case standard(name):
		case isOwn && !strings.HasPrefix(l.pkg, "app") && (pkg == "app" || strings.HasPrefix(pkg, "app/") || pkg == "tray" || isTest(pkg)):
			problems = append(problems, fmt.Sprintf("the tests of %s may not import %s", l.pkg, pkg))
		case !isOwn && !within(name, slices.Concat(l.modules, testModules)):
			problems = append(problems, fmt.Sprintf("the tests of %s may not import %s", l.pkg, name))
		}
	}
	return problems
}

// The rules themselves, on trees that break them one at a time.
func TestTheTableCatchesWhatBreaksIt(t *testing.T) {
	table := []layer{
		{"app", []string{"gateway/ledger"}, []string{modCobra}},
		{"gateway/ledger", []string{"gateway/turn"}, []string{modBbolt}},
		{"gateway/turn", nil, nil},
	}
	good := func() map[string]*source {
		return map[string]*source{
			"app":            {imports: []string{"deckhand/gateway/ledger", modCobra}},
			"gateway/ledger": {imports: []string{"fmt", "deckhand/gateway/turn", modBbolt + "/errors"}},
			"gateway/turn":   {imports: []string{"encoding/json"}},
			"tests":          {testImports: []string{"deckhand/app/demo"}},
		}
	}
	if problems := checkLayers(good(), table); len(problems) > 0 {
		t.Fatal(problems)
	}
	for want, spoil := range map[string]func(map[string]*source){
		"gateway/proc is not in the table":             func(m map[string]*source) { m["gateway/proc"] = &source{} },
		"gateway/turn stands in the table and not":     func(m map[string]*source) { delete(m, "gateway/turn") },
		"gateway/turn may not import gateway/ledger":   func(m map[string]*source) { m["gateway/turn"].imports = []string{"deckhand/gateway/ledger"} },
		"gateway/turn may not import " + modUUID:       func(m map[string]*source) { m["gateway/turn"].imports = []string{modUUID} },
		"app imports " + modBbolt:                      func(m map[string]*source) { m["app"].testImports = []string{modBbolt} },
		"app does not import " + modCobra:              func(m map[string]*source) { m["app"].imports = m["app"].imports[:1] },
		"app does not import gateway/ledger":           func(m map[string]*source) { m["app"].imports = m["app"].imports[1:] },
		"the tests of gateway/turn may not import app": func(m map[string]*source) { m["gateway/turn"].testImports = []string{"deckhand/app/demo"} },
		"the tests of gateway/turn may not import git": func(m map[string]*source) { m["gateway/turn"].testImports = []string{modCobra} },
	} {
		tree := good()
		spoil(tree)
		if problems := checkLayers(tree, table); !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("%q was not reported, but %q", want, problems)
		}
	}
	slices.Reverse(table)
	if problems := checkLayers(good(), table); len(problems) != 2 {
		t.Errorf("arrows that point up: %q", problems)
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for pkg, s := range readTree(t, "..") {
		switch {
		case s.name == "":
			t.Errorf("%s has tests and nothing else", pkg)
		case len(s.comments) != 1:
			t.Errorf("%s has %d package comments and not one", pkg, len(s.comments))
		case s.name != "main" && !strings.HasPrefix(s.comments[0], "Package "+s.name+" "):
			t.Errorf("the comment of %s does not begin with \"Package %s\"", pkg, s.name)
		}
	}
}

func TestNoPackageIsABucket(t *testing.T) {
	buckets := []string{"internal", "util", "utils", "common", "types", "models", "config", "pkg", "helpers", "misc"}
	for pkg, s := range readTree(t, "..") {
		for element := range strings.SplitSeq(pkg, "/") {
			if slices.Contains(buckets, element) {
				t.Errorf("%s: %s says nothing about what is in it", pkg, element)
			}
		}
		if s.name != "" && s.name != "main" && s.name != path.Base(pkg) {
			t.Errorf("%s calls itself %s", pkg, s.name)
		}
	}
}

func TestModuleFileReplacesNothing(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^\s*(replace\b|.*=>)`).Match(text) {
		t.Error("go.mod replaces a module: nobody else could build what we test")
	}
}

// The Claude Code that setup fetches is the one that the product was verified
// with.
func TestSetupFetchesThePinnedClaudeCode(t *testing.T) {
	text, err := os.ReadFile("../packaging/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nCLAUDE_VERSION="+runner.Pinned+"\n") {
		t.Errorf("packaging/setup.sh does not fetch %s", runner.Pinned)
	}
}
