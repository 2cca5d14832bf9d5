package protected

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func symlink(t *testing.T, target, link string) {
	t.Helper()
	mkdir(t, filepath.Dir(link))
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func TestLinksOfProtectedPlacesAreFollowed(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	write(t, base+"/vault/key", "secret")
	write(t, base+"/vault/keys/deep/key", "secret")
	write(t, home+"/dotfiles/config/gh/hosts.yml", "secret")
	write(t, home+"/ssh-real/id", "secret")
	symlink(t, home+"/ssh-real", home+"/.ssh")
	symlink(t, "../../../vault/key", home+"/.aws/credentials")
	symlink(t, base+"/vault/keys", home+"/.kube/dir")
	symlink(t, "dotfiles/config", home+"/.config")
	symlink(t, "/nowhere/at/all", home+"/.aws/dangling")
	p := newPaths(t, "linux", Config{Home: home, State: base + "/state"})
	for _, path := range []string{
		home + "/ssh-real/id", base + "/vault/key", base + "/vault/keys/deep/key",
		home + "/dotfiles/config/gh/hosts.yml", home + "/dotfiles/config/rclone/new.conf", home + "/.ssh/id",
	} {
		if d := p.Decide(path, Read); d.Allowed {
			t.Errorf("%s may be read", path)
		}
	}
	for _, path := range []string{base + "/vault", base + "/vault/other", home + "/dotfiles", home + "/dotfiles/config/app"} {
		if d := p.Decide(path, Read); !d.Allowed {
			t.Errorf("%s is covered by %q", path, d.Rule)
		}
	}
}

func TestLinksDoNotHideWhatIsNoSecret(t *testing.T) {
	home, _ := machine(t, "linux")
	mkdir(t, home+"/Documents")
	for i, target := range []string{"/", home, filepath.Dir(home), home + "/Documents", "/usr/bin", "/tmp"} {
		symlink(t, target, home+"/.ssh/link"+string(rune('a'+i)))
	}
	p := newPaths(t, "linux", Config{Home: home, State: "/srv/state"})
	for _, path := range []string{"/srv/x", home, home + "/x", home + "/Documents/x", "/usr/bin/env", filepath.Dir(home) + "/x", "/tmp/x"} {
		if d := p.Decide(path, Read); !d.Allowed {
			t.Errorf("%s is covered by %q", path, d.Rule)
		}
	}
}

func TestHomeBehindALinkIsKnownByBothNames(t *testing.T) {
	base := realPrefix(t.TempDir())
	mkdir(t, base+"/var/people/me/.ssh")
	symlink(t, "var/people", base+"/people")
	p := newPaths(t, "linux", Config{Home: base + "/people/me", State: "/srv/state"})
	for _, home := range []string{base + "/people/me", base + "/var/people/me"} {
		if d := p.Decide(home+"/.ssh/id", Read); d.Allowed {
			t.Errorf("%s/.ssh/id may be read", home)
		}
		if d := p.Decide(home+"/code", Read); !d.Allowed {
			t.Errorf("%s/code is covered by %q", home, d.Rule)
		}
	}
}

func TestHiddenFilesAreKnownUnderOtherNames(t *testing.T) {
	home, _ := machine(t, "linux")
	write(t, home+"/.ssh/id", "secret")
	write(t, home+"/.npmrc", "secret")
	write(t, home+"/plain", "text")
	for from, to := range map[string]string{"/.ssh/id": "/notes.txt", "/.npmrc": "/rc.txt", "/plain": "/plain2"} {
		if err := os.Link(home+from, home+to); err != nil {
			t.Fatal(err)
		}
	}
	p := newPaths(t, "linux", Config{Home: home, State: "/srv/state"})
	for name, open := range map[string]bool{"/notes.txt": false, "/rc.txt": false, "/plain2": true, "/.ssh": false} {
		info, err := os.Lstat(home + name)
		if err != nil {
			t.Fatal(err)
		}
		id := identify(info)
		if d := p.View().Same(id.dev, id.ino); d.Allowed != open {
			t.Errorf("%s: allowed is %v", name, d.Allowed)
		}
	}
}

func TestSurveyIsBounded(t *testing.T) {
	home, p := machine(t, "linux")
	known := func(path string) bool {
		info, err := os.Lstat(home + path)
		if err != nil {
			t.Fatal(err)
		}
		id := identify(info)
		return !p.View().Same(id.dev, id.ino).Allowed
	}
	for i := range 60 {
		mkdir(t, fmt.Sprintf("%s/.ssh/%02d", home, i))
	}
	mkdir(t, home+"/.gnupg/a")
	mkdir(t, home+"/.gnupg/b/1/2/3/4/5/6/7/8/9")
	for _, c := range []struct {
		perRule, total int
		first, second  bool // something late in one folder, early in the next
	}{{1000, 1000, true, true}, {20, 1000, false, true}, {1000, 50, false, false}} {
		p.perRule, p.total, p.view = c.perRule, c.total, nil
		if known("/.ssh/59") != c.first || known("/.gnupg/a") != c.second {
			t.Errorf("%d a rule, %d in all: %v, %v", c.perRule, c.total, known("/.ssh/59"), known("/.gnupg/a"))
		}
		if !known("/.ssh") || !known("/.gnupg") {
			t.Error("a hidden folder itself is not known")
		}
	}
	p.perRule, p.total, p.view = 1000, 1000, nil
	if !known("/.gnupg/b/1") || known("/.gnupg/b/1/2/3/4/5/6/7/8/9") {
		t.Error("the depth of the survey is not bounded")
	}
}
