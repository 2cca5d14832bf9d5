package executor

import (
	"errors"
	"os"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

func TestBroadWriteRootsAreRefused(t *testing.T) {
	f := newFixture(t)
	f.write("people/me/.config/app/x", "")
	f.write("people/me/.local/share/x", "")
	f.write("people/me/go/src/p/x", "")
	f.write("work/file", "")
	f.symlink("people/me", "alias")
	for path, code := range map[string]turn.Code{
		"/": turn.WriteRootTooBroad, "/etc": turn.WriteRootTooBroad, "/etc/ssl": turn.WriteRootTooBroad, "/usr": turn.WriteRootTooBroad, "/usr/bin": turn.WriteRootTooBroad,
		"/usr/share/doc": turn.WriteRootTooBroad, "/usr/local": turn.WriteRootTooBroad, "/bin": turn.WriteRootTooBroad, "/var": turn.WriteRootTooBroad, "/var/lib": turn.WriteRootTooBroad,
		"/opt": turn.WriteRootTooBroad, "/home": turn.WriteRootTooBroad, "/root": turn.WriteRootTooBroad, "/tmp": turn.WriteRootTooBroad, "/dev": turn.WriteRootTooBroad,
		"/proc/self": turn.WriteRootTooBroad, "/sys": turn.WriteRootTooBroad, "/Library": turn.WriteRootTooBroad, "/System/Library": turn.WriteRootTooBroad, "/Applications": turn.WriteRootTooBroad,
		"/applications/X.app": turn.WriteRootTooBroad, "/Users": turn.WriteRootTooBroad, "/Volumes": turn.WriteRootTooBroad, "/Volumes/Disk": turn.WriteRootTooBroad, "/media/me/stick": turn.WriteRootTooBroad,
		f.home: turn.WriteRootTooBroad, f.path("people"): turn.WriteRootTooBroad, f.base: turn.WriteRootTooBroad, // the home and what holds it
		f.path("people/me/.config"): turn.WriteRootTooBroad, f.path("people/me/.local"): turn.WriteRootTooBroad, f.path("people/me/.local/share"): turn.WriteRootTooBroad, f.path("people/me/go"): turn.WriteRootTooBroad,
		f.path("state"): turn.ProtectedPath, f.path("state/private"): turn.ProtectedPath, f.path("people/me/.ssh"): turn.ProtectedPath, f.path("people/me/.config/autostart"): turn.ProtectedPath,
		f.path("work/.git"): turn.ProtectedPath, f.path("work/file"): turn.NotADirectory, f.path("none"): turn.WorkingDirectoryInvalid,
		"work": turn.WorkingDirectoryInvalid, f.work + "/": turn.WorkingDirectoryInvalid, f.path("work/../work"): turn.WorkingDirectoryInvalid, f.path("alias/x"): turn.SymlinkRefused,
	} {
		err := f.e.CheckRoot(path)
		refusal, ok := errors.AsType[*turn.Refusal](err)
		if !ok || refusal.Code != code {
			t.Errorf("%s: %v, want %s", path, err, code)
			continue
		}
		if code == turn.WriteRootTooBroad && !strings.Contains(refusal.Detail, "choose the folder of one project") {
			t.Errorf("%s is not told what to do: %s", path, refusal.Detail)
		}
	}
	f.mkdir("people/me/project/sub")
	f.mkdir("people/me/.config/app")
	for _, path := range []string{f.work, f.path("people/me/project"), f.path("people/me/project/sub"), f.path("people/me/.config/app"), f.path("people/me/go/src/p")} {
		if err := f.e.CheckRoot(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	// A root that holds Deckhand's state is broad wherever it lies.
	f.mkdir("people/me/outer")
	if err := os.Rename(f.path("state"), f.path("people/me/outer/state")); err != nil {
		t.Fatal(err)
	}
	f.stateAt("people/me/outer/state")
	if err := f.e.CheckRoot(f.path("people/me/outer")); err == nil || !strings.Contains(err.Error(), "Deckhand's private state") {
		t.Error(err)
	}
}

func TestWhatRunsByItselfIsRemarked(t *testing.T) {
	for path, marked := range map[string]bool{
		"/p/.envrc": true, "/p/.vscode/tasks.json": true, "/p/tasks.json": false, "/p/.husky/pre-commit": true, "/p/.husky/_/husky.sh": true, "/p/package.json": true, "/p/a/package.json": true,
		"/p/CLAUDE.md": true, "/p/claude.md": true, "/p/AGENTS.md": true, "/p/x/AGENTS.md": true, "/p/agents.md.txt": false, "/p/.claude/settings.json": true, "/p/.mcp.json": true,
		"/p/hooks/post-receive": true, "/p/hooks": false, "/p/.github/workflows/ci.yml": true, "/p/.gitattributes": true, "/p/conftest.py": true, "/p/build.rs": true,
		"/p/main.go": false, "/p/README.md": false, "/p/package.json.bak": false, "/p/Makefile": false, "/p/package-lock.json": false,
	} {
		if got := RunsByItself(path); (got != "") != marked || strings.HasSuffix(got, ".") {
			t.Errorf("%s: %q", path, got)
		}
	}
	f := newFixture(t).writing()
	r := f.wrote("Write", args{"file_path": ".envrc", "content": "a"}, "work/.envrc")
	if len(r.Write.Notes) != 1 || !strings.Contains(r.Text, "direnv") {
		t.Errorf("%+v", r)
	}
	r = f.wrote("Edit", args{"file_path": ".envrc", "old_string": "a", "new_string": "b"}, "work/.envrc")
	if len(r.Write.Notes) != 1 || !strings.Contains(r.Text, "direnv") {
		t.Errorf("%+v", r)
	}
}
