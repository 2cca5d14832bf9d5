package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/turn"
)

func refusal(t *testing.T, err error) *turn.Refusal {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if !ok {
		t.Fatalf("not a refusal: %v", err)
	}
	return r
}

func TestPoliciesThatCannotBeEnforcedAreRefused(t *testing.T) {
	dir := canonicalTempDir(t)
	mkdirs(t, dir+"/a/b", dir+"/c")
	write(t, dir+"/file", "x")
	for link, target := range map[string]string{"link": "c", "filelink": "file", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	mkdirs(t, dir+"/c/d")
	ro := func(paths ...string) Policy { return Policy{ReadOnly: paths} }
	rw := func(paths ...string) Policy { return Policy{Writable: paths} }
	for what, p := range map[string]Policy{
		"missing":                    ro(dir + "/missing"),
		"missing, writable":          rw(dir + "/missing"),
		"relative":                   ro("a"),
		"empty":                      ro(""),
		"unclean":                    ro(dir + "/a/../c"),
		"trailing slash":             ro(dir + "/a/"),
		"with a zero byte":           ro(dir + "/a\x00"),
		"symlink":                    ro(dir + "/link"),
		"symlink, writable":          rw(dir + "/link"),
		"symlink to a file":          ro(dir + "/filelink"),
		"symlink on the way":         ro(dir + "/link/d"),
		"symlink to itself":          ro(dir + "/loop"),
		"writable file":              rw(dir + "/file"),
		"twice":                      ro(dir+"/a", dir+"/a"),
		"read-only and writable":     {ReadOnly: []string{dir + "/a"}, Writable: []string{dir + "/a"}},
		"read-only inside writable":  {ReadOnly: []string{dir + "/a/b"}, Writable: []string{dir + "/a"}},
		"writable inside writable":   rw(dir+"/a", dir+"/a/b"),
		"the root":                   ro("/"),
		"the base system":            rw("/usr"),
		"what holds the private tmp": rw("/tmp"),
		"the kernel's":               ro("/proc/sys"),
		"a device":                   ro("/dev/null"),
		"listening without network":  {Listen: 20000},
		"a privileged port":          {Network: PrivateLoopback, Listen: 80},
		"no port":                    {Network: PrivateLoopback, Listen: 70000},
		"a network of another kind":  {Network: 7},
		"a view of another kind":     {View: 7},
		"hidden in the base system":  {Hidden: []string{dir + "/a"}},
		"hidden and missing":         {View: WholeSystem, Hidden: []string{dir + "/missing"}},
		"hidden by a link":           {View: WholeSystem, Hidden: []string{dir + "/link"}},
		"hidden twice":               {View: WholeSystem, Hidden: []string{dir + "/a", dir + "/a"}},
		"hidden inside hidden":       {View: WholeSystem, Hidden: []string{dir + "/a", dir + "/a/b"}},
		"hidden inside writable":     {View: WholeSystem, Hidden: []string{dir + "/a/b"}, Writable: []string{dir + "/a"}},
		"writable inside hidden":     {View: WholeSystem, Hidden: []string{dir + "/a"}, Writable: []string{dir + "/a/b"}},
		"shown inside hidden":        {View: WholeSystem, Hidden: []string{dir + "/a"}, ReadOnly: []string{dir + "/a/b"}},
		"hidden and shown":           {View: WholeSystem, Hidden: []string{dir + "/a"}, ReadOnly: []string{dir + "/a"}},
		"the hidden root":            {View: WholeSystem, Hidden: []string{"/"}},
		"the hidden base system":     {View: WholeSystem, Hidden: []string{"/usr"}},
		"the hidden kernel's":        {View: WholeSystem, Hidden: []string{"/proc/sys"}},
		"too much hidden":            {View: WholeSystem, Hidden: slices.Repeat([]string{dir + "/a"}, MaxHidden+1)},
	} {
		_, err := launcher(t).Start(t.Context(), p, Command{Path: stagePath, Args: []string{"probe", "list", "/"}})
		if err == nil {
			t.Errorf("%s: started", what)
			continue
		}
		if r := refusal(t, err); r.Code != turn.LaunchFailed || r.Detail != "" {
			t.Errorf("%s: %s, and publicly %q", what, r.Code, r.Detail)
		}
	}
	// And what comes close to them is not.
	for what, p := range map[string]Policy{
		"writable inside read-only": {ReadOnly: []string{dir + "/a"}, Writable: []string{dir + "/a/b"}},
		"siblings":                  rw(dir+"/a", dir+"/c"),
		"all of the whole system":   {View: WholeSystem, ReadOnly: []string{"/"}},
		"what it has of its own":    {View: WholeSystem, ReadOnly: []string{"/tmp"}, Hidden: []string{dir + "/a"}},
	} {
		if got := confined(t, p, "list", "/"); got == "" {
			t.Errorf("%s: no answer", what)
		}
	}
}

func TestAWritableDirectoryInsideAReadOnlyOne(t *testing.T) {
	dir := dirOutsideTmp(t)
	mkdirs(t, dir+"/in")
	p := Policy{ReadOnly: []string{dir}, Writable: []string{dir + "/in"}}
	attempts(t, p, []string{"create " + dir + "/new"})
	works(t, p, "create "+dir+"/in/new")
}

func TestCommandsThatCannotStartAreRefused(t *testing.T) {
	for what, c := range map[string]Command{
		"no program":           {Path: "/no/such/program"},
		"relative program":     {Path: "stage"},
		"a directory":          {Path: "/usr"},
		"not in the sandbox":   {Path: "/var/lib"},
		"no working directory": {Path: stagePath, Dir: "/no/such/directory"},
		"zero byte":            {Path: stagePath, Args: []string{"a\x00b"}},
		"environment":          {Path: stagePath, Env: []string{"SECRET"}},
	} {
		_, err := launcher(t).Start(t.Context(), Policy{}, c)
		if err == nil {
			t.Errorf("%s: started", what)
			continue
		}
		r := refusal(t, err)
		if r.Code != turn.LaunchFailed || r.Detail != "" {
			t.Errorf("%s: %s, and publicly %q", what, r.Code, r.Detail)
		}
		if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error shows the environment: %v", what, err)
		}
	}
}

// script is an executable shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(canonicalTempDir(t), "bwrap")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindRefusesWithTheCure(t *testing.T) {
	for what, cfg := range map[string]Config{
		"missing":   {Self: "/proc/self/exe", Bubblewrap: "/no/such/bwrap"},
		"relative":  {Self: "/proc/self/exe", Bubblewrap: "bwrap"},
		"too old":   {Self: "/proc/self/exe", Bubblewrap: script(t, "echo bubblewrap 0.6.1")},
		"not it":    {Self: "/proc/self/exe", Bubblewrap: script(t, "echo hello")},
		"it breaks": {Self: "/proc/self/exe", Bubblewrap: script(t, "exit 1")},
	} {
		_, err := Find(cfg)
		if err == nil {
			t.Errorf("%s: found", what)
			continue
		}
		if r := refusal(t, err); r.Code != turn.SandboxUnavailable || !strings.Contains(r.Detail, installCure()) {
			t.Errorf("%s: %s: %s", what, r.Code, r.Detail)
		}
	}
	for _, self := range []string{"", "deckhand", "/no/such/deckhand"} {
		if _, err := Find(Config{Self: self}); err == nil {
			t.Errorf("found with %q as its own binary", self)
		}
	}
}

// Programs in the place of bwrap that do not confine: the stage says no, and
// the command never runs.
func TestNothingRunsUnconfined(t *testing.T) {
	self, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	real, err := findBubblewrap("")
	if err != nil {
		t.Fatal(err)
	}
	const version = `[ "$1" = --version ] && exec echo bubblewrap 0.11.0
`
	common := `exec ` + real + ` --ro-bind / / --dev /dev --proc /proc --cap-drop ALL --unshare-user `
	rest := ` -- ` + self + ` stage`
	for what, test := range map[string]struct{ text, complaint string }{
		"fails":        {`echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`, "uid map"},
		"does nothing": {`exec ` + self + ` stage`, "not pid 1"},
		"keeps the network": {common + `--unshare-pid --as-pid-1 --unshare-ipc --unshare-uts --unshare-cgroup` + rest,
			"net namespace"},
		"keeps the processes": {common + `--unshare-net --unshare-ipc --unshare-uts --unshare-cgroup` + rest, "not pid 1"},
		"keeps the host's name": {common + `--unshare-net --unshare-pid --as-pid-1 --unshare-ipc --unshare-cgroup` + rest,
			"uts namespace"},
		"keeps capabilities": {common + `--unshare-all --as-pid-1 --cap-add CAP_SYS_ADMIN` + rest, "Cap"},
	} {
		l, err := Find(Config{Self: self, Bubblewrap: script(t, version+test.text)})
		if err != nil {
			t.Fatal(err)
		}
		out := tempFile(t, "")
		p, err := l.Start(t.Context(), Policy{}, Command{Path: self, Args: []string{"probe", "list", "/"}, Env: probeEnv, Stdout: out})
		if err == nil {
			p.Wait()
			t.Errorf("%s: started", what)
			continue
		}
		if r := refusal(t, err); r.Code != turn.SandboxUnavailable || r.Detail == "" || !strings.Contains(err.Error(), test.complaint) {
			t.Errorf("%s: %v", what, err)
		}
		if got := contents(t, out); got != "" {
			t.Errorf("%s: the command said %q", what, got)
		}
	}
}

func TestCuresAreOneCommand(t *testing.T) {
	for release, want := range map[string]string{
		"ID=debian\n": "sudo apt-get install bubblewrap",
		"NAME=x\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n": "sudo apt-get install bubblewrap",
		"ID=fedora\n": "sudo dnf install bubblewrap",
		"ID='rocky'\nID_LIKE='rhel centos fedora'\n": "sudo dnf install bubblewrap",
		"ID=arch\n": "sudo pacman -S bubblewrap",
		"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n": "sudo zypper install bubblewrap",
		"ID=other\n": "install the package bubblewrap, version 0.8.0 or later",
		"":           "install the package bubblewrap, version 0.8.0 or later",
	} {
		if got := installCommand(release); got != want {
			t.Errorf("%q: %s", release, got)
		}
	}
	for _, s := range switches {
		got := setupCureFor("", func(path string) string {
			if path == s.path {
				return s.off
			}
			return ""
		})
		if !strings.HasSuffix(got, s.cure) {
			t.Errorf("%s: %s", s.path, got)
		}
	}
	none := func(string) string { return "" }
	if got := setupCureFor("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", none); !strings.Contains(got, "/proc") {
		t.Error(got)
	}
	if got := setupCureFor("something else", none); got == "" {
		t.Error("no answer")
	}
}

func TestVersionsOfBubblewrap(t *testing.T) {
	for version, want := range map[string]bool{
		"0.8.0": true, "0.11.1": true, "1.0": true, "0.7.0": false, "0.4.1": false, "": false, "x.9": false, "0": false,
	} {
		if got := knowsDisableUserns(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
