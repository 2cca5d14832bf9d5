package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePromisesNameTestsThatExist reads SECURITY.md: a promise whose test was
// renamed or removed is held by nothing.
func TestThePromisesNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "SECURITY.md"))
	must(t, err)
	exist := map[string]bool{}
	for _, pattern := range []string{"../*/*_test.go", "../*/*/*_test.go", "../*/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, file := range files {
			code, err := os.ReadFile(file)
			must(t, err)
			for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(code, -1) {
				exist[string(match[1])] = true
			}
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(text, -1)
	if len(named) < 20 {
		t.Errorf("SECURITY.md names %d tests only; does this test still read it right?", len(named))
	}
	for _, match := range named {
		if !exist[string(match[1])] {
			t.Errorf("SECURITY.md names %s, which does not exist", match[1])
		}
	}
}

// TestTheArchitectureNamesEveryPackage compares ARCHITECTURE.md with the tree.
func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "ARCHITECTURE.md"))
	must(t, err)
	for _, layer := range layers {
		name := regexp.MustCompile("`(" + regexp.QuoteMeta(layer.pkg) + "|" + regexp.QuoteMeta(filepath.Base(layer.pkg)) + ")`")
		if !name.Match(text) {
			t.Errorf("ARCHITECTURE.md does not name %s", layer.pkg)
		}
	}
}

// TestTheArchitectureShowsTheTablesAsTheyAre compares the two tables of package
// turn with what ARCHITECTURE.md shows of them.
func TestTheArchitectureShowsTheTablesAsTheyAre(t *testing.T) {
	tables, err := os.ReadFile(filepath.Join("..", "gateway", "turn", "testdata", "tables.golden"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), strings.TrimSpace(string(tables))) {
		t.Error("ARCHITECTURE.md does not show the tables of gateway/turn/testdata/tables.golden")
	}
}
