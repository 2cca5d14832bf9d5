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
	home, _ := machine(t, "linux")
	for i := range surveyPerRule + 50 {
		write(t, fmt.Sprintf("%s/.ssh/d/%d", home, i), "")
	}
	write(t, home+"/.aws/credentials", "secret")
	if err := os.Link(home+"/.aws/credentials", home+"/copy"); err != nil {
		t.Fatal(err)
	}
	p := newPaths(t, "linux", Config{Home: home, State: "/srv/state"})
	info, err := os.Lstat(home + "/copy")
	if err != nil {
		t.Fatal(err)
	}
	if id := identify(info); p.View().Same(id.dev, id.ino).Allowed {
		t.Error("one large folder used up the look into the others")
	}
}
