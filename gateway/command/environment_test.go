package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// variable returns the value of a variable, or "unset".
func variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return "unset"
}

// all shows every path.
func all(string) bool { return true }

func folders(t *testing.T, base string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// What injects code or secrets into programs does not get through, wherever it
// comes from.
func TestNothingIsInheritedButWhatIsListed(t *testing.T) {
	hostile := map[string]string{}
	for _, name := range []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH", "BASH_ENV", "ENV", "IFS",
		"NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RIPGREP_CONFIG_PATH", "HTTPS_PROXY", "http_proxy", "ALL_PROXY",
		"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR", "DECKHAND_STATE_DIR",
		"GOFLAGS", "GOPROXY", "HOME", "TMPDIR", "TERM"} {
		hostile[name] = "/hostile/" + name
	}
	env := newEnvironment(t.TempDir(), hostile, hostile, all).of("/cache")
	for _, entry := range env {
		if strings.Contains(entry, "hostile") {
			t.Errorf("%s got through", entry)
		}
	}
	names := map[string]bool{}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if names[name] {
			t.Errorf("%s stands there twice", name)
		}
		names[name] = true
	}
	for name, value := range map[string]string{"HOME": "/cache/home", "TMPDIR": "/cache/tmp", "GOPROXY": "off", "TERM": "dumb", "LC_ALL": "C.UTF-8"} {
		if got := variable(env, name); got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

func TestToolHomesAreTheUsers(t *testing.T) {
	home := t.TempDir()
	folders(t, home, "go", ".cargo/bin", "elsewhere/rust", ".nvm/versions/node/v1/bin", "secret")
	login := map[string]string{
		"RUSTUP_HOME": home + "/elsewhere/rust", "NVM_DIR": "bad\nvalue",
		"PATH": home + "/.nvm/versions/node/v1/bin:relative:" + home + "/missing:" + home + "/secret:/usr/bin:/usr/bin",
	}
	e := newEnvironment(home, login, map[string]string{"PATH": "/usr/sbin", "LANG": "de_DE.UTF-8", "TZ": "Europe/Berlin"}, func(real string) bool { return !strings.HasSuffix(real, "/secret") })
	env := e.of("/cache")
	for name, value := range map[string]string{
		"GOPATH": home + "/go", "CARGO_HOME": home + "/.cargo", "RUSTUP_HOME": home + "/elsewhere/rust", "NVM_DIR": "unset", "PYENV_ROOT": "unset",
		"LANG": "de_DE.UTF-8", "LC_ALL": "unset", "TZ": "Europe/Berlin",
	} {
		if got := variable(env, name); got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
	want := []string{home + "/.nvm/versions/node/v1/bin", "/usr/bin", "/usr/sbin", home + "/.cargo/bin"}
	if got := e.path; len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("PATH is %q, want it to begin with %q", got, want)
	}
}

// Version managers keep a link for each shell in a folder that a sandbox has of
// its own: what it leads to is what commands see.
func TestLinksInFoldersOfTheSystemAreFollowed(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir()) // below /tmp or the like
	if err != nil {
		t.Fatal(err)
	}
	folders(t, base, "versions/1/bin")
	if err := os.Symlink("versions/1", filepath.Join(base, "shell")); err != nil {
		t.Fatal(err)
	}
	if got := programFolder(base + "/shell/bin"); strings.HasPrefix(base, "/tmp/") && got != base+"/versions/1/bin" {
		t.Errorf("the folder is %s", got)
	}
}

func TestGoSettingsOfTheUserHold(t *testing.T) {
	home := t.TempDir()
	folders(t, home, "go", "conf/go")
	file := filepath.Join(home, "conf/go/env")
	if err := os.WriteFile(file, []byte("GOPATH=/somewhere\nGOFLAGS=-tags=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := newEnvironment(home, map[string]string{"GOENV": file}, nil, all).of("/cache")
	if variable(env, "GOENV") != file || variable(env, "GOPATH") != "unset" {
		t.Errorf("GOENV is %s and GOPATH %s", variable(env, "GOENV"), variable(env, "GOPATH"))
	}
}

func TestDeveloperToolsStandBeforeTheirStandIns(t *testing.T) {
	root := t.TempDir()
	e := &environment{path: []string{"/opt/homebrew/bin", "/usr/bin", "/bin"}}
	e.useDeveloperTools(root)
	if len(e.path) != 3 || len(e.vars) != 0 {
		t.Errorf("without any: %q %q", e.path, e.vars)
	}
	tools := filepath.Join(root, "Library/Developer/CommandLineTools")
	folders(t, tools, "usr/bin")
	e.useDeveloperTools(root)
	if want := []string{"/opt/homebrew/bin", tools + "/usr/bin", "/usr/bin", "/bin"}; !slices.Equal(e.path, want) || variable(e.vars, "DEVELOPER_DIR") != tools {
		t.Errorf("PATH is %q with %q", e.path, e.vars)
	}
	chosen := filepath.Join(root, "Xcode")
	folders(t, root, "var/db", "Xcode/usr/bin", "Xcode/Toolchains/XcodeDefault.xctoolchain/usr/bin")
	if err := os.Symlink(chosen, filepath.Join(root, "var/db/xcode_select_link")); err != nil {
		t.Fatal(err)
	}
	e = &environment{path: []string{"/usr/bin"}, vars: []string{"DEVELOPER_DIR=/mine"}}
	e.useDeveloperTools(root)
	if want := []string{chosen + "/usr/bin", chosen + "/Toolchains/XcodeDefault.xctoolchain/usr/bin", "/usr/bin"}; !slices.Equal(e.path, want) || variable(e.vars, "DEVELOPER_DIR") != "/mine" {
		t.Errorf("PATH is %q with %q", e.path, e.vars)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"git", "git", 0}, {"gti", "git", 1}, {"cargo", "crago", 1}, {"pytest", "pytset", 1}, {"nodee", "node", 1}, {"ls", "git", 3}, {"", "ab", 2}, {"python", "pyhtn", 2}} {
		if got := distance(c.a, c.b, 2); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
