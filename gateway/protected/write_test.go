package protected

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNamesThatAreGitElsewhere(t *testing.T) {
	home, p := machine(t, "linux")
	v := p.View()
	for name, open := range map[string]bool{
		".git": false, ".GIT": false, "git~1": false, "GIT~12": false, ".git ": false, ".git. .": false, ".git...": false, ".git::$INDEX_ALLOCATION": false, ".git:x": false,
		".g\u200cit": false, "\u200e.git": false, ".gi\ufeffT": false, ".git\u206f": false,
		".gitignore": true, ".github": true, "git": true, "git~": true, "git~1a": true, "a.git": true, ".gi": true, "..git": true, " .git": true, ".git-x": true, "~": true, "": true,
	} {
		for _, path := range []string{home + "/p/" + name, home + "/p/" + name + "/hooks/x"} {
			if d := v.DecideWrite(filepath.Clean(path), false); d.Allowed != open || !open && d.Rule != GitRule {
				t.Errorf("%q: allowed is %v by %q", path, d.Allowed, d.Rule)
			}
		}
	}
}

func TestRulesHoldWhereCaseIsIgnored(t *testing.T) {
	home, p := machine(t, "linux")
	v := p.View()
	for path, open := range map[string]bool{
		home + "/.SSH/id": false, home + "/.Aws": false, home + "/.BASHRC": false, home + "/.Config/AutoStart/x.desktop": false, home + "/.config/Google-chrome/x": false,
		home + "/BIN/tool": false, home + "/.ENV": false, "/ETC/passwd": false, "/Usr/Bin/x": false, "/home/Other/x": false, "/PROC/self": false,
		home + "/project/x": true, home + "/.sshx": true, home + "/Binary": true, "/home/linuxbrew": true, "/srv/x": true,
	} {
		if d := v.DecideWrite(path, true); d.Allowed != open {
			t.Errorf("%s: allowed is %v by %q", path, d.Allowed, d.Rule)
		}
	}
	// Where case counts, these are other folders.
	for _, path := range []string{"/.SSH/id", "/.BASHRC", "/BIN/tool"} {
		if d := v.DecideWrite(home+path, false); !d.Allowed {
			t.Errorf("%s: refused by %q", path, d.Rule)
		}
	}
	if d := v.DecideWrite(home+"/.bashrc", false); d.Allowed || d.Kind != ReadOnly {
		t.Errorf("%+v", d)
	}
}

// TestReadOnlyUnderAnotherName finds what may be read and not written by what
// it is, not by what it is called.
func TestReadOnlyUnderAnotherName(t *testing.T) {
	base := realPrefix(t.TempDir())
	home := filepath.Join(base, "me")
	write(t, home+"/.bashrc", "")
	write(t, home+"/.config/autostart/x", "")
	write(t, home+"/.ssh/id", "")
	write(t, home+"/plain", "")
	if err := os.Link(home+"/.bashrc", home+"/twin"); err != nil {
		t.Fatal(err)
	}
	v := newPaths(t, "linux", Config{Home: home, State: base + "/state"}).View()
	for path, want := range map[string]Kind{"/.bashrc": ReadOnly, "/twin": ReadOnly, "/.config/autostart": ReadOnly, "/.ssh": Hidden, "/plain": Open, "/.config": Open} {
		info, err := os.Lstat(home + path)
		if err != nil {
			t.Fatal(err)
		}
		id := identify(info)
		if d := v.SameWrite(id.dev, id.ino); d.Kind != want || d.Allowed != (want == Open) {
			t.Errorf("%s: %+v, want %s", path, d, want)
		}
		if d := v.Same(id.dev, id.ino); d.Allowed != (want != Hidden) {
			t.Errorf("reading %s: %+v", path, d)
		}
	}
}

func TestFoldersThatHoldTooMuch(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		base := realPrefix(t.TempDir())
		home := filepath.Join(base, "people", "me")
		for _, dir := range []string{"/project/bin", "/tools", "/.config/app"} {
			mkdir(t, home+dir)
		}
		write(t, home+"/dot/bashrc", "")
		if err := os.Symlink("dot/bashrc", home+"/.bashrc"); err != nil {
			t.Fatal(err)
		}
		p := newPaths(t, goos, Config{Home: home, State: home + "/deep/er/state", Search: []string{home + "/project/bin"},
			Own: []string{home + "/tools/deckhand"}, Hidden: []string{home + "/dot/secret"}, ReadOnly: []string{"~/dot/x"}})
		for path, broad := range map[string]bool{
			"/": true, "/etc": true, "/usr": true, base: true, filepath.Dir(home): true, home: true,
			home + "/.config": true, home + "/.local/share": true, home + "/go": true, home + "/deep": true, home + "/deep/er": true,
			home + "/project": false, home + "/tools": false, home + "/dot": false, home + "/.config/app": false, "/srv": false, home + "/.conf": false,
		} {
			if why := p.TooBroad(path); (why != "") != broad {
				t.Errorf("%s: %s: %q", goos, path, why)
			}
		}
		if upper := filepath.Join(base, "PEOPLE"); (p.TooBroad(upper) != "") != (goos == "darwin") {
			t.Errorf("%s: %s: %q", goos, upper, p.TooBroad(upper))
		}
	}
}

// TestFoldersThatHoldTooMuchBehindALink has a home that is reached by a link.
func TestFoldersThatHoldTooMuchBehindALink(t *testing.T) {
	base := realPrefix(t.TempDir())
	mkdir(t, base+"/real/me/project")
	if err := os.Symlink("real", base+"/people"); err != nil {
		t.Fatal(err)
	}
	p := newPaths(t, "linux", Config{Home: base + "/people/me", State: base + "/state"})
	for path, broad := range map[string]bool{"/real": true, "/real/me": true, "/real/me/.config": true, "/real/me/go": true, "/real/me/project": false} {
		if why := p.TooBroad(base + path); (why != "") != broad {
			t.Errorf("%s: %q", path, why)
		}
	}
}
