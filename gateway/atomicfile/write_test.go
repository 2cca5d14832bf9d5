package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFileCreatesAndReplacesWithExactMode(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, step := range []struct {
		data string
		mode os.FileMode
	}{{"one", 0o644}, {"a longer second", 0o400}, {"", 0o600}} {
		if err := WriteFile(path, []byte(step.data), step.mode); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != step.data {
			t.Fatalf("content %q, %v; want %q", got, err, step.data)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != step.mode {
			t.Fatalf("mode %v, %v; want %v", info.Mode(), err, step.mode)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("left over: %v", got)
	}
}

func TestWriteFileReplacesALinkAndNotItsTarget(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "old" {
		t.Fatalf("the target of the link was written: %q", got)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Fatalf("the link is still one: %v, %v", info.Mode(), err)
	}
}

func TestWriteFileThatFailsLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	// A directory cannot be replaced by a file: the rename, the last step that
	// can fail, fails for every user.
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), 0o600); err == nil {
		t.Fatal("a directory was replaced")
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "taken" {
		t.Fatalf("left over: %v", got)
	}
	if err := WriteFile(filepath.Join(dir, "missing", "f"), nil, 0o600); err == nil {
		t.Fatal("a missing directory was made up")
	}
}

func TestWriteFileThatRunsOutOfSpaceLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A file size limit stands in for a full disk: the write ends half way.
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, bytes.Repeat([]byte("n"), 5000), 0o600)
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); e != nil {
		t.Fatal(e)
	}
	if err == nil {
		t.Fatal("5000 bytes were written under a limit of 1000")
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("the old file is gone: %d bytes", len(got))
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("left over: %v", got)
	}
}

func TestReadersSeeOneWholeVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	version := func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%26)}, 10_000+i) }
	if err := WriteFile(path, version(0), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := 1; i < 60; i++ {
			if err := WriteFile(path, version(i), 0o600); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := len(got) - 10_000; i < 0 || !bytes.Equal(got, version(i)) {
			t.Fatalf("%d bytes that no writer wrote", len(got))
		}
	}
	wg.Wait()
}
