package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"deckhand/gateway/turn"
)

// Pinned is the version of Claude Code that this build was verified with.
const Pinned = "2.1.247"

// versionLimit bounds the question which version a binary is.
const versionLimit = 20 * time.Second

// Places says where Claude Code may be. Empty fields are skipped.
type Places struct {
	// Bin is what the user named (CLAUDE_BIN): it alone counts if set.
	Bin string
	// Data is the directory in which `deckhand claude install` made claude/.
	Data string
	// Home is the user's home directory.
	Home string
	// Path is a list of directories, as in $PATH.
	Path string
}

const installCure = "run `deckhand claude install`, or set CLAUDE_BIN to the claude program"

// FindClaude returns the real path of a native Claude Code binary and its
// version, "" if it does not tell. It looks at Bin, or else at the installed
// one, npm's global folder in the home, and the directories of Path, in this
// order, and resolves npm's launcher to the binary behind it. The error is a
// *turn.Refusal of code claude_not_found with the cure.
func FindClaude(ctx context.Context, p Places) (path, version string, err error) {
	if p.Bin != "" {
		path, err := native(p.Bin)
		if err != nil {
			return "", "", turn.RefuseFor(turn.ClaudeNotFound, err, "CLAUDE_BIN does not name a usable Claude Code; %s", installCure)
		}
		return path, versionOf(ctx, path), nil
	}
	var reasons []error
	for _, candidate := range p.candidates() {
		path, err := native(candidate)
		if err == nil {
			return path, versionOf(ctx, path), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			reasons = append(reasons, err)
		}
	}
	return "", "", turn.RefuseFor(turn.ClaudeNotFound, errors.Join(reasons...), "Claude Code is not installed; %s", installCure)
}

// InstalledClaude is where `npm install --prefix DATA/claude` leaves the
// launcher.
func InstalledClaude(data string) string {
	return filepath.Join(data, "claude", "node_modules", ".bin", "claude")
}

func (p Places) candidates() []string {
	var all []string
	if p.Data != "" {
		all = append(all, InstalledClaude(p.Data))
	}
	if p.Home != "" {
		all = append(all, filepath.Join(p.Home, ".npm-global", "bin", "claude"))
	}
	for _, dir := range filepath.SplitList(p.Path) {
		if filepath.IsAbs(dir) {
			all = append(all, filepath.Join(dir, "claude"))
		}
	}
	return all
}

// native returns the native binary behind a candidate: itself, or what npm's
// launcher would start.
func native(candidate string) (string, error) {
	real, err := filepath.EvalSymlinks(candidate)
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	isNative, err := isExecutable(real)
	if err != nil || isNative {
		return real, err
	}
	// The launcher is <package>/bin/… or <package>/cli….; the binary is in an
	// optional dependency, beside the package or inside it.
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "claude-code" {
			continue
		}
		for _, name := range platformPackages() {
			for _, modules := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Join(dir, "node_modules")} {
				binary := filepath.Join(modules, "@anthropic-ai", name, "claude")
				if ok, err := isExecutable(binary); err == nil && ok {
					return filepath.EvalSymlinks(binary)
				}
			}
		}
		return "", fmt.Errorf("%s is npm's launcher, and its native binary for %s is missing", candidate, platformPackages()[0])
	}
	return "", fmt.Errorf("%s is not a native program", candidate)
}

// platformPackages are the npm packages that may hold this machine's binary.
func platformPackages() []string {
	arch := cmp.Or(map[string]string{"amd64": "x64"}[runtime.GOARCH], runtime.GOARCH)
	name := "claude-code-" + runtime.GOOS + "-" + arch
	return []string{name, name + "-musl"}
}

// isExecutable reports whether a regular file is a program for the kernel
// itself, by its first bytes: ELF, or Mach-O of one or several architectures.
func isExecutable(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", path)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil
	}
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if string(head) == magic {
			if info.Mode().Perm()&0o111 == 0 {
				return false, fmt.Errorf("%s is not executable", path)
			}
			return true, nil
		}
	}
	return false, nil
}

var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// versionOf tells a binary's version: from npm's package file beside it, or by
// asking the binary, with nothing of the user's environment.
func versionOf(ctx context.Context, path string) string {
	var pkg struct{ Name, Version string }
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "package.json"))
	if err == nil && json.Unmarshal(raw, &pkg) == nil && strings.HasPrefix(pkg.Name, "@anthropic-ai/claude-code") {
		return versionForm.FindString(pkg.Version)
	}
	home, err := os.MkdirTemp("", "deckhand-version-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "TMPDIR=" + home, "PATH=" + home,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if cmd.Run() != nil {
		return ""
	}
	return versionForm.FindString(out.String())
}
