package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAStateDirectoryThatIsNotOursAloneIsRefused(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "parent", "state")
	if err := checkState(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if err := makeState(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("it was made with mode %v, %v", info.Mode(), err)
	}
	if err := makeState(dir); err != nil {
		t.Errorf("the second time: %v", err)
	}
	for _, mode := range []os.FileMode{0o750, 0o705, 0o770, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := makeState(dir)
		if err == nil || !strings.Contains(hintOf(err), "chmod 700") {
			t.Errorf("mode %04o: %v, hint %q", mode, err, hintOf(err))
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := makeState(link); err == nil || !strings.Contains(hintOf(err), dir) {
		t.Errorf("a symlink: %v, hint %q", err, hintOf(err))
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeState(file); err == nil {
		t.Error("a file is accepted")
	}
}

func TestRootIsRefusedUnlessAllowed(t *testing.T) {
	if err := refuseRoot(0, false); exitCode(err) != exitUsage {
		t.Errorf("root: %v", err)
	}
	if err := errors.Join(refuseRoot(0, true), refuseRoot(1000, false)); err != nil {
		t.Error(err)
	}
}
