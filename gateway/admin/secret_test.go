package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	s := NewSecret("hush")
	encoded, err := json.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v %#v %s %q", s, s, s, s), string(encoded), log.String()} {
		if strings.Contains(text, "hush") {
			t.Errorf("the secret shows in %s", text)
		}
	}
	if s.Equal("") || s.Equal("hushhush") || (Secret{}).Equal("") || !s.Equal("hush") {
		t.Error("Equal is wrong")
	}
}

func TestATokenFileThatIsNotOursAloneIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := SecretFile(filepath.Join(dir, "token"))
	made, err := file.LoadOrCreate()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := file.LoadOrCreate(); err != nil || again != made {
		t.Errorf("LoadOrCreate made another token: %v", err)
	}
	if info, err := os.Stat(string(file)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file has mode %v, %v", info.Mode(), err)
	}
	rotated, err := file.Rotate()
	if err != nil || rotated == made || len(rotated.Reveal()) < 26 {
		t.Errorf("Rotate kept the token or made a short one: %v", err)
	}

	link := SecretFile(filepath.Join(dir, "link"))
	if err := os.Symlink(string(file), string(link)); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Read(); err == nil {
		t.Error("a symlink was followed")
	}
	if _, err := SecretFile(dir).Read(); err == nil {
		t.Error("a directory was read")
	}
	empty := SecretFile(filepath.Join(dir, "empty"))
	if err := os.WriteFile(string(empty), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Read(); err == nil {
		t.Error("an empty token was accepted")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(string(file), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := file.LoadOrCreate(); err == nil {
			t.Errorf("a token file of mode %04o was accepted", mode)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".tmp") }) {
		t.Errorf("a temporary file is left: %v", entries)
	}
}
