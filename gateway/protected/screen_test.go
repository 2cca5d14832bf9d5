package protected

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// screen returns what a command in dirs must not see, below base only: this
// computer has files of its own that are hidden.
func screen(t *testing.T, p *Paths, base string, dirs ...string) []string {
	t.Helper()
	list, err := p.Screen(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, byComponents) {
		t.Errorf("not sorted: %q", list)
	}
	for i, path := range list {
		if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
			t.Errorf("%q is not a real path: %q, %v", path, real, err)
		}
		for _, other := range list[:i] {
			if inside(path, other) || inside(other, path) {
				t.Errorf("%q and %q lie in each other", other, path)
			}
		}
	}
	return slices.DeleteFunc(list, func(path string) bool { return !inside(path, base) })
}

func expect(t *testing.T, got []string, base string, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = base + want[i]
	}
	if !slices.Equal(got, want) {
		t.Errorf("hidden: %q, want %q", got, want)
	}
}

func TestScreenNamesWhatIsHiddenAndThere(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	for _, path := range []string{
		"/.ssh/id", "/.ssh/.env", "/.aws/credentials", "/.netrc", "/.config/gh/hosts.yml", "/.config/git/config", "/.bash_history", "/.python_history",
		"/.config/google-chrome/Cookies", "/.config/google-chrome-beta/Cookies", "/.bashrc", "/bin/tool", "/work/.env", "/work/.git/config", "/work/sub/deep/.env", "/.claude/projects/x", "/.claude/settings.json",
	} {
		write(t, home+path, "")
	}
	write(t, base+"/state/ledger.db", "")
	write(t, base+"/vault/key", "")
	write(t, base+"/vault/dir/key", "")
	write(t, home+"/mine/hidden", "")
	symlink(t, base+"/vault/key", home+"/.aws/link")
	symlink(t, "../../../vault/dir", home+"/.ssh/dir")
	symlink(t, "nowhere", home+"/.ssh/dangling")
	symlink(t, home+"/mine", home+"/.kube")
	p := newPaths(t, "linux", Config{Home: home, State: base + "/state", Hidden: []string{"~/plans*", "/nowhere"}})
	me := "/people/me"
	want := []string{me + "/.aws", me + "/.bash_history", me + "/.claude/projects", me + "/.config/gh", me + "/.config/google-chrome", me + "/.config/google-chrome-beta",
		me + "/.netrc", me + "/.python_history", me + "/.ssh", me + "/mine", "/state", "/vault/dir", "/vault/key"}
	expect(t, screen(t, p, base), base, want...)
	// Something of the rules that came since is named at once.
	write(t, home+"/.pgpass", "")
	write(t, home+"/plans-b", "")
	want = slices.Insert(want, slices.Index(want, base+me+"/.python_history"), me+"/.pgpass")
	for i, path := range want {
		want[i] = strings.TrimPrefix(path, base)
	}
	want = slices.Insert(want, slices.Index(want, "/state"), me+"/plans-b")
	expect(t, screen(t, p, base), base, want...)
	// And nothing that is gone.
	for _, path := range []string{"/.aws", "/.pgpass", "/plans-b", "/.ssh"} {
		if err := os.RemoveAll(home + path); err != nil {
			t.Fatal(err)
		}
	}
	if got := screen(t, p, base); slices.ContainsFunc(got, func(path string) bool { return inside(path, home+"/.aws") || path == home+"/plans-b" }) {
		t.Errorf("what is gone is named: %q", got)
	}
}

func TestScreenLooksForEnvironmentFilesInTheCommandsFolders(t *testing.T) {
	home, p := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	root := home + "/work"
	for _, path := range []string{"/.env", "/.env.local", "/.ENV.prod", "/.env.example", "/.envrc", "/core.12", "/core.go", "/pass.kdbx", "/.git/config",
		"/a/.env", "/a/b/.env.test", "/a/b/c/.env", "/a/other/.env", "/z/.env"} {
		write(t, root+path, "")
	}
	write(t, home+"/.env", "")
	w := "/people/me/work"
	expect(t, screen(t, p, base, root), base, w+"/.ENV.prod", w+"/.env", w+"/.env.local", w+"/core.12", w+"/pass.kdbx")
	expect(t, screen(t, p, base, root+"/a/b", root), base, w+"/.ENV.prod", w+"/.env", w+"/.env.local", w+"/a/.env", w+"/a/b/.env.test", w+"/core.12", w+"/pass.kdbx")
	expect(t, screen(t, p, base, root+"/z", root+"/a/b"), base, w+"/a/b/.env.test", w+"/z/.env")
	expect(t, screen(t, p, base, root+"/.git"), base)
	if got := screen(t, p, base, "/", root+"/z"); !slices.Contains(got, home+"/.env") || !slices.Contains(got, root+"/z/.env") {
		t.Errorf("%q", got)
	}
}

func TestScreenKnowsWhatAnEnvironmentFileIsNot(t *testing.T) {
	home, p := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	for _, dir := range []string{"venv", "folder", "link", "example", "far", "loop", "system", "top"} {
		mkdir(t, home+"/"+dir)
	}
	write(t, home+"/venv/.env/pyvenv.cfg", "")
	write(t, home+"/folder/.env/production", "")
	write(t, home+"/secrets/prod", "")
	symlink(t, "../secrets/prod", home+"/link/.env")
	write(t, home+"/example/.env.example", "")
	symlink(t, ".env.example", home+"/example/.env")
	symlink(t, "../secrets", home+"/far/.env")
	symlink(t, ".env", home+"/loop/.env")
	symlink(t, "/usr/bin/env", home+"/system/.env")
	symlink(t, "/", home+"/top/.env")
	for dir, want := range map[string][]string{"venv": nil, "folder": {"/people/me/folder/.env"}, "link": {"/people/me/secrets/prod"}, "example": nil, "far": nil, "loop": nil, "system": nil, "top": nil} {
		expect(t, screen(t, p, base, home+"/"+dir), base, want...)
	}
}

func TestScreenRefusesFoldersThatAreHidden(t *testing.T) {
	home, p := machine(t, "linux")
	mkdir(t, home+"/.ssh/work")
	mkdir(t, home+"/p/.env/x")
	for _, dir := range []string{home + "/.ssh/work", home + "/.ssh", home + "/p/.env/x", "relative", home + "/../me", "", "/proc/self", home + "/not/there"} {
		if list, err := p.Screen(dir); err == nil {
			t.Errorf("%q: %q", dir, list)
		}
	}
	if _, err := p.Screen(home, home+"/.ssh"); err == nil || !strings.Contains(err.Error(), "SSH") {
		t.Errorf("no reason: %v", err)
	}
}

func TestScreenGathersAndThenFails(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	for _, path := range []string{"/.claude/projects/x", "/.claude/history.jsonl", "/.config/gh/x", "/.config/rclone/x", "/.config/op/x", "/.config/go/env", "/.ssh/id", "/.netrc", "/.config/tool/bin/x"} {
		write(t, home+path, "")
	}
	me := "/people/me"
	cfg := Config{Home: home, State: base + "/state"}
	p := newPaths(t, "linux", cfg)
	others := len(screen(t, p, "/")) - len(screen(t, p, base))
	for room, want := range map[int][]string{
		7: {me + "/.claude/history.jsonl", me + "/.claude/projects", me + "/.config/gh", me + "/.config/op", me + "/.config/rclone", me + "/.netrc", me + "/.ssh"},
		6: {me + "/.claude", me + "/.config/gh", me + "/.config/op", me + "/.config/rclone", me + "/.netrc", me + "/.ssh"},
		5: {me + "/.claude", me + "/.config", me + "/.netrc", me + "/.ssh"},
		4: {me + "/.claude", me + "/.config", me + "/.netrc", me + "/.ssh"},
	} {
		p.maxScreen = others + room
		got, err := p.Screen()
		if err != nil {
			t.Fatal(room, err)
		}
		got = slices.DeleteFunc(got, func(path string) bool { return !inside(path, base) })
		expect(t, got, base, want...)
	}
	p.maxScreen = 1
	if list, err := p.Screen(); err == nil || !strings.Contains(err.Error(), "at most 1 can be") {
		t.Errorf("%q, %v", list, err)
	}
	// A folder is not gathered while a command works in it, or programs are
	// started from it.
	mkdir(t, home+"/.config/nvim")
	p.maxScreen = others + 5
	if list, err := p.Screen(home + "/.config/nvim"); err == nil {
		t.Errorf("the command's folder is hidden: %q", list)
	}
	cfg.Search = []string{home + "/.config/tool/bin"}
	q := newPaths(t, "linux", cfg)
	q.maxScreen = others + 5
	if list, err := q.Screen(); err == nil {
		t.Errorf("a folder of the PATH is hidden: %q", list)
	}
	// Too many by a rule of the user's own: the refusal says so.
	for i := range 60 {
		mkdir(t, fmt.Sprintf("%s/keys/%d/secret", home, i))
	}
	r := newPaths(t, "linux", Config{Home: home, State: base + "/state", Hidden: []string{"~/keys/*/secret"}})
	if list, err := r.Screen(); err == nil || !strings.Contains(err.Error(), `60, are of "~/keys/*/secret"`) {
		t.Errorf("%d, %v", len(list), err)
	}
}

func TestScreenHidesOtherHomesThatCanBeRead(t *testing.T) {
	base := realPrefix(t.TempDir())
	passwd := base + "/passwd"
	for _, home := range []string{"me", "ann", "bob"} {
		mkdir(t, base+"/people/"+home)
	}
	mkdir(t, base+"/disk/eve")
	symlink(t, base+"/disk/eve", base+"/people/eve")
	var lines strings.Builder
	for i, home := range []string{"me", "ann", "bob", "gone", "eve"} {
		fmt.Fprintf(&lines, "%s:x:%d:1000::%s/people/%s:/bin/sh\n", home, 1000+i, base, home)
	}
	write(t, passwd, lines.String())
	p, err := newFor("linux", passwd, Config{Home: base + "/people/me", State: base + "/state"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, screen(t, p, base), base, "/disk/eve", "/people/ann", "/people/bob")
}

// TestScreenLooksAgainWhenAPlaceHasMoved changes what no folder of a rule tells
// of.
func TestScreenLooksAgainWhenAPlaceHasMoved(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	write(t, home+"/keys/1/secret", "")
	write(t, home+"/keys/2/secret", "")
	p := newPaths(t, "linux", Config{Home: home, State: base + "/state", Hidden: []string{"~/keys/*/secret"}})
	k := "/people/me/keys"
	expect(t, screen(t, p, base), base, k+"/1/secret", k+"/2/secret")
	if err := os.Rename(home+"/keys/2/secret", home+"/keys/2/elsewhere"); err != nil {
		t.Fatal(err)
	}
	expect(t, screen(t, p, base), base, k+"/1/secret")
	if err := os.Rename(home+"/keys/1/secret", home+"/real"); err != nil {
		t.Fatal(err)
	}
	symlink(t, home+"/real", home+"/keys/1/secret")
	expect(t, screen(t, p, base), base, "/people/me/real")
}

// TestScreenOnAHostileHome is about homes that are large, damaged or meant to
// harm.
func TestScreenOnAHostileHome(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	mkdir(t, home+"/files/0")
	for i := range surveyPerRule + 100 {
		write(t, fmt.Sprintf("%s/.ssh/%d", home, i), "")
	}
	write(t, home+"/big/.env", "")
	for i := range 1100 { // more than are read at once
		write(t, fmt.Sprintf("%s/big/%d", home, i), "")
	}
	// Links that lead around, out, up and to where they are.
	for i, target := range []string{".", "..", "/", home, "../.aws", "/usr/bin", "/etc/passwd/x", "self", strings.Repeat("x/", 2000), "../files"} {
		if err := os.Symlink(target, fmt.Sprintf("%s/.ssh/link%d", home, i)); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, home+"/.gnupg", home+"/.aws")
	symlink(t, home+"/.aws", home+"/.gnupg")
	symlink(t, "/", home+"/.kube")
	symlink(t, home, home+"/.azure")
	symlink(t, "..", home+"/.docker")
	p := newPaths(t, "linux", Config{Home: home, State: base + "/state"})
	expect(t, screen(t, p, base, home+"/big", home), base, "/people/me/.ssh", "/people/me/big/.env")
	for _, path := range []string{"/", home, home + "/files", home + "/big", "/usr/bin/env", filepath.Dir(home) + "/x"} {
		if d := p.Decide(path, Read); !d.Allowed {
			t.Errorf("%s is covered by %q", path, d.Rule)
		}
	}
}
