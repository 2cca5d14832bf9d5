package scratch

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// heldIn makes this test binary hold a folder until it is killed.
const heldIn = "DECKHAND_TEST_SCRATCH"

func TestMain(m *testing.M) {
	if os.Getenv(heldIn) != "" {
		d, err := Make()
		if err != nil {
			os.Exit(1)
		}
		if _, err := os.Stdout.WriteString(d.Path); err != nil {
			os.Exit(1)
		}
		os.Stdout.Close()
		select {}
	}
	os.Exit(m.Run())
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func make1(t *testing.T) *Dir {
	t.Helper()
	d, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhatAKilledProcessLeftIsRemovedAndWhatIsInUseIsNot(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	held := exec.Command(os.Args[0])
	held.Env = append(os.Environ(), heldIn+"=1")
	out, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	path := string(buf[:n])
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(temp, "deckhand-other")
	link := filepath.Join(temp, prefix+"link")
	kept := t.TempDir()
	if err := errors.Join(os.Mkdir(other, 0o700), os.Symlink(kept, link)); err != nil {
		t.Fatal(err)
	}
	d := make1(t)
	if gone(path) {
		t.Error("a folder in use was removed")
	}
	if err := held.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = held.Wait() // it was killed
	second := make1(t)
	if !gone(path) {
		t.Error("what a killed process left is still there")
	}
	if gone(d.Path) || gone(other) || gone(link) || gone(kept) {
		t.Error("something was removed that is in use or not ours")
	}
	for _, dir := range []*Dir{d, second} {
		if err := dir.Close(); err != nil || !gone(dir.Path) {
			t.Errorf("close: %v", err)
		}
	}
}

func TestManyAtOnceEachHaveTheirOwn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for range 20 {
				d, err := Make()
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "mine"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
}
