package command

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// toolHomes are the folders of the user's in which tools keep what they need:
// versions of themselves, packages, settings. A command sees them read-only.
// What the login shell says counts; else the fallback, if it exists.
var toolHomes = []struct{ name, fallback string }{
	{"GOROOT", ""}, {"GOPATH", "~/go"}, {"GOMODCACHE", ""},
	{"CARGO_HOME", "~/.cargo"}, {"RUSTUP_HOME", "~/.rustup"}, {"RUSTUP_TOOLCHAIN", ""},
	{"NVM_DIR", "~/.nvm"}, {"FNM_DIR", ""}, {"VOLTA_HOME", "~/.volta"}, {"COREPACK_HOME", "~/.cache/node/corepack"},
	{"NPM_CONFIG_PREFIX", ""}, {"PNPM_HOME", ""}, {"BUN_INSTALL", "~/.bun"},
	{"PYENV_ROOT", "~/.pyenv"}, {"PYTHONUSERBASE", "~/.local"}, {"UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python"}, {"CONDA_PREFIX", ""},
	{"RBENV_ROOT", "~/.rbenv"}, {"GEM_HOME", ""}, {"ASDF_DIR", ""}, {"ASDF_DATA_DIR", "~/.asdf"},
	{"MISE_DATA_DIR", "~/.local/share/mise"}, {"MISE_CONFIG_DIR", "~/.config/mise"},
	{"JAVA_HOME", ""}, {"SDKMAN_DIR", "~/.sdkman"}, {"GRADLE_RO_DEP_CACHE", "~/.gradle/caches"}, {"DOTNET_ROOT", ""},
	{"DEVELOPER_DIR", ""}, {"SDKROOT", ""},
}

// usualFolders are searched after what the login shell and the gateway name.
var usualFolders = []string{
	"~/.local/bin", "~/bin", "~/.cargo/bin", "~/go/bin",
	"/opt/homebrew/bin", "/usr/local/go/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin",
}

// privateFolders lie in the session's cache folder: the variable that names
// each, and its place. Tools put there what they would put into the home of the
// user or beside the files they work on.
var privateFolders = []struct{ name, dir string }{
	{"HOME", "home"}, {"TMPDIR", "tmp"},
	{"XDG_CONFIG_HOME", "home/.config"}, {"XDG_DATA_HOME", "home/.local/share"}, {"XDG_STATE_HOME", "home/.local/state"}, {"XDG_CACHE_HOME", "cache"},
	{"GOCACHE", "cache/go-build"}, {"CARGO_TARGET_DIR", "cache/cargo-target"}, {"npm_config_cache", "cache/npm"}, {"YARN_CACHE_FOLDER", "cache/yarn"},
	{"PYTHONPYCACHEPREFIX", "cache/pycache"}, {"PIP_CACHE_DIR", "cache/pip"}, {"UV_CACHE_DIR", "cache/uv"},
	{"RUFF_CACHE_DIR", "cache/ruff"}, {"MYPY_CACHE_DIR", "cache/mypy"}, {"GRADLE_USER_HOME", "cache/gradle"}, {"CCACHE_DIR", "cache/ccache"},
}

// fixed are what keeps tools from asking, from the network and from a terminal.
var fixed = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	"GOPROXY=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
	"CARGO_NET_OFFLINE=true",
	"npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
	"YARN_ENABLE_NETWORK=0", "YARN_ENABLE_TELEMETRY=0", "COREPACK_ENABLE_NETWORK=0", "COREPACK_ENABLE_DOWNLOAD_PROMPT=0",
	"PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "UV_OFFLINE=1",
	"DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1",
	// The sandbox refuses ptrace, which the leak detector needs.
	"ASAN_OPTIONS=detect_leaks=0",
}

// environment is what all commands share: the folders of programs and the
// variables that do not depend on the session.
type environment struct {
	path []string // absolute, existing
	vars []string // NAME=VALUE, without PATH
	// doubt says why the login shell could not be asked, "" if it was.
	doubt string
}

// newEnvironment makes it of what the login shell said, which may be nothing,
// and of the gateway's own variables. seen tells of a real path whether commands
// see it: a program that they cannot reach must not stand before one that they
// can.
func newEnvironment(home string, login, own map[string]string, seen func(string) bool) *environment {
	e := &environment{}
	under := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			return filepath.Join(home, rest)
		}
		return path
	}
	dirs := slices.Concat(filepath.SplitList(login["PATH"]), filepath.SplitList(own["PATH"]))
	for _, dir := range usualFolders {
		dirs = append(dirs, under(dir))
	}
	for _, dir := range dirs {
		dir = programFolder(dir)
		if dir == "" || slices.Contains(e.path, dir) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && seen(real) {
			e.path = append(e.path, dir)
		}
	}
	vars := map[string]string{}
	for _, h := range toolHomes {
		if value := login[h.name]; value != "" {
			vars[h.name] = value
		} else if dir := under(h.fallback); dir != "" && exists(dir) {
			vars[h.name] = dir
		}
	}
	useGoSettings(vars, home, login)
	for _, name := range []string{"USER", "LOGNAME", "TZ"} {
		if value := own[name]; value != "" {
			vars[name] = value
		}
	}
	for name, value := range vars {
		if !utf8.ValidString(value) || strings.ContainsAny(value, "\x00\n") {
			continue // the sandbox could not hand it over, or it is none of a folder
		}
		e.vars = append(e.vars, name+"="+value)
	}
	e.vars = slices.Concat(e.vars, locale(own), fixed)
	slices.Sort(e.vars)
	return e
}

// programFolder returns a folder of PATH as commands see it, or "" if it is
// none. Those in folders that a sandbox has of its own, where some version
// managers keep links for each shell, are followed to where they lead.
func programFolder(dir string) string {
	if !filepath.IsAbs(dir) || !utf8.ValidString(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	for _, own := range []string{"/tmp/", "/var/tmp/", "/run/", "/var/run/", "/private/"} {
		if strings.HasPrefix(dir, own) {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				return ""
			}
			dir = real
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || strings.Contains(dir, string(filepath.ListSeparator)) {
		return ""
	}
	return dir
}

// useGoSettings points Go to the settings that "go env -w" wrote, which it
// looks for in the home, and lets them decide about the folders in them.
func useGoSettings(vars map[string]string, home string, login map[string]string) {
	config := filepath.Join(home, ".config")
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	} else if dir := login["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		config = dir
	}
	file := filepath.Join(config, "go", "env")
	if named := login["GOENV"]; filepath.IsAbs(named) {
		file = named
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return // most users have none
	}
	vars["GOENV"] = file
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "=")
		if (name == "GOPATH" || name == "GOMODCACHE" || name == "GOROOT") && login[name] == "" {
			delete(vars, name)
		}
	}
}

// locale returns the variables that name a language, with a default under which
// text is UTF-8.
func locale(vars map[string]string) []string {
	var set []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if (name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_")) && !strings.ContainsAny(vars[name], "\x00\n") {
			set = append(set, name+"="+vars[name])
		}
	}
	if vars["LANG"] == "" && vars["LC_ALL"] == "" {
		set = append(set, "LC_ALL=C.UTF-8")
	}
	return set
}

// of returns the whole environment of a command of the session that has this
// cache folder.
func (e *environment) of(cache string) []string {
	env := slices.Clone(e.vars)
	for _, f := range privateFolders {
		env = append(env, f.name+"="+filepath.Join(cache, f.dir))
	}
	return append(env,
		"PATH="+strings.Join(e.path, string(filepath.ListSeparator)),
		"COVERAGE_FILE="+filepath.Join(cache, "cache", "coverage"),
		"PYTEST_ADDOPTS=-o cache_dir="+filepath.Join(cache, "cache", "pytest"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
