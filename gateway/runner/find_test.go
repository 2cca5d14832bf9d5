package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

// program writes a file that is native by its first bytes, and no more.
func program(t *testing.T, path string) string {
	t.Helper()
	write(t, path, "\x7fELF", 0o755)
	return path
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// npm makes what npm installs below modules: a launcher, and the binary beside
// or inside its package. It returns the binary.
func npm(t *testing.T, modules string, nested bool) string {
	t.Helper()
	pkg := filepath.Join(modules, "@anthropic-ai", "claude-code")
	write(t, filepath.Join(pkg, "bin", "claude.exe"), "echo not installed", 0o755)
	where := modules
	if nested {
		where = filepath.Join(pkg, "node_modules")
	}
	dir := filepath.Join(where, "@anthropic-ai", platformPackages()[0])
	write(t, filepath.Join(dir, "package.json"), `{"name":"@anthropic-ai/`+platformPackages()[0]+`","version":"2.1.247"}`, 0o644)
	return program(t, filepath.Join(dir, "claude"))
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestFindClaudeLooksInOrder(t *testing.T) {
	dir := t.TempDir()
	named := program(t, dir+"/named/claude")
	installed := npm(t, dir+"/data/claude/node_modules", false)
	symlink(t, "../@anthropic-ai/claude-code/bin/claude.exe", InstalledClaude(dir+"/data"))
	global := npm(t, dir+"/home/.npm-global/lib/node_modules", true)
	symlink(t, "../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", dir+"/home/.npm-global/bin/claude")
	write(t, dir+"/script/claude", "#!/bin/sh\n", 0o755)
	onPath := program(t, dir+"/bin/claude")

	cfg := FindConfig{Path: named, Data: dir + "/data", Home: dir + "/home", Search: []string{"relative", dir + "/none", dir + "/script", dir + "/bin"}}
	for _, want := range []struct {
		path, version string
		then          func()
	}{
		{named, "", func() { cfg.Path = "" }},
		{installed, Pinned, func() { cfg.Data = "" }},
		{global, Pinned, func() { cfg.Home = "" }},
		{onPath, "", func() {}},
	} {
		got, err := FindClaude(cfg)
		if err != nil || got.Path != want.path || got.Version != want.version {
			t.Errorf("%+v: %+v %v, want %s", cfg, got, err, want.path)
		}
		want.then()
	}
}

func TestFindClaudeSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/script", "#!/bin/sh\n", 0o755)
	write(t, dir+"/not-executable", "\x7fELF", 0o644)
	write(t, dir+"/alone/@anthropic-ai/claude-code/cli.js", "#!/usr/bin/env node\n", 0o755)
	program(t, dir+"/good/claude")
	for name, cfg := range map[string]FindConfig{
		"nowhere":                  {},
		"empty places":             {Data: dir, Home: dir, Search: []string{dir}},
		"named and missing":        {Path: dir + "/missing", Search: []string{dir + "/good"}},
		"named and a script":       {Path: dir + "/script", Search: []string{dir + "/good"}},
		"named and a directory":    {Path: dir, Search: []string{dir + "/good"}},
		"named and not executable": {Path: dir + "/not-executable"},
		"launcher without binary":  {Path: dir + "/alone/@anthropic-ai/claude-code/cli.js"},
	} {
		got, err := FindClaude(cfg)
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok || refusal.Code != turn.ClaudeNotFound || !strings.Contains(refusal.Detail, "deckhand claude install") || strings.Contains(refusal.Detail, dir) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestVersionOfTheRealBinary(t *testing.T) {
	path := os.Getenv("DECKHAND_TEST_CLAUDE")
	if path == "" {
		t.Fatal("DECKHAND_TEST_CLAUDE is not set: run the tests with \"make test\", or set it to a Claude Code binary")
	}
	// Behind a link of another name, without npm's package file beside it.
	link := filepath.Join(t.TempDir(), "claude")
	raw, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(raw, link); err != nil {
		symlink(t, raw, link)
	}
	got, err := FindClaude(FindConfig{Path: link})
	if err != nil || got.Version != Pinned {
		t.Errorf("%+v %v", got, err)
	}
}
