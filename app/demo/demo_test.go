package demo

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADemoThatCannotStartSaysWhyAndLeavesNothing gives it programs that are no
// gateway.
func TestADemoThatCannotStartSaysWhyAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	script := filepath.Join(t.TempDir(), "deckhand")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no such thing >&2\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for self, want := range map[string]string{script: "no such thing", script + "-missing": "no such file"} {
		err := Run(t.Context(), Options{Self: self, Out: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	err := Run(t.Context(), Options{Self: script, Dir: filepath.Join(temp, "nowhere"), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a directory that does not exist: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTheWholeSampleShips compares what is copied with what lies in the tree.
func TestTheWholeSampleShips(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sample")
	copied, err := copySample(dir)
	if err != nil {
		t.Fatal(err)
	}
	lies := 0
	err = filepath.WalkDir("../../assets/sample", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() && !strings.Contains(path, "__pycache__") {
			lies++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if copied != lies {
		t.Errorf("%d files are copied, %d lie in the tree", copied, lies)
	}
}
