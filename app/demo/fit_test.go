package demo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADirectoryWithTooLittleIsRefusedBeforeAnythingStarts gives it directories
// that the script could do nothing with, and a program that must not be asked.
func TestADirectoryWithTooLittleIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, files := range map[string]map[string]string{
		"empty":     {},
		"one":       {"lighthouse.txt": "the lighthouse\n"},
		"binary":    {"lighthouse.txt": "the lighthouse\n", "other.bin": "a\x00b"},
		"blank":     {"lighthouse.txt": "the lighthouse\n", "other.txt": ""},
		"of git":    {"lighthouse.txt": "the lighthouse\n", ".git/config": "[core]\n"},
		"wordless":  {"a.txt": "a\n", "b.txt": "b\n"},
		"directory": {"lighthouse/.git/config": "[core]\n"},
	} {
		dir := fill(t, files)
		var out strings.Builder
		err := Run(t.Context(), Options{Self: "/no/such/program", Dir: dir, Out: &out})
		if _, ok := errors.AsType[*UnfitError](err); !ok || !strings.Contains(err.Error(), "at least two text files") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: it began to tell: %s", name, out.String())
		}
	}
	file := filepath.Join(fill(t, map[string]string{"file": "x"}), "file")
	if _, ok := errors.AsType[*UnfitError](Run(t.Context(), Options{Dir: file, Out: io.Discard})); !ok {
		t.Error("a file was taken for a directory")
	}
}

func TestADirectoryWithTwoTextFilesIsFit(t *testing.T) {
	dir := fill(t, map[string]string{"lighthouse.txt": "the lighthouse\n", "a/b.txt": strings.Repeat("long ", peek)})
	want, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fit(dir); err != nil || got != want {
		t.Errorf("fit says %q, %v", got, err)
	}
}

func fill(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
