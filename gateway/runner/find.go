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

	"deckhand/gateway/scratch"
	"deckhand/gateway/turn"
)

// Pinned is the version of Claude Code that this build was verified with.
const Pinned = "2.1.247"

// versionLimit bounds the question which version a binary is.
const versionLimit = 20 * time.Second

// FindConfig says where Claude Code may be. Empty fields are skipped.
type FindConfig struct {
	// Path is what the user named (CLAUDE_BIN): it alone counts if set.
	Path string
	// Data is the directory in which `deckhand claude install` made claude/.
	Data string
	// Home is the user's home directory.
	Home string
	// Search are the directories of PATH.
	Search []string
}

// Claude is a Claude Code that was found.
type Claude struct {
	// Path is the real path of the native binary.
	Path string
	// Version is "" if the binary does not tell.
	Version string
}

const installCure = "run `deckhand claude install`, or set CLAUDE_BIN to the claude program"

// FindClaude finds Claude Code: at Path, or else the installed one, in npm's
// global folder in the home, and in the directories of Search, in this order.
// npm's launcher is resolved to the binary behind it. The error is a
// *turn.Refusal of code claude_not_found with the cure.
func FindClaude(cfg FindConfig) (Claude, error) {
	if cfg.Path != "" {
		path, err := native(cfg.Path)
		if err != nil {
			return Claude{}, turn.RefuseFor(turn.ClaudeNotFound, err, "what CLAUDE_BIN names is no Claude Code for this machine; %s", installCure)
		}
		return Claude{path, versionOf(path)}, nil
	}
	var reasons []error
	for _, candidate := range cfg.candidates() {
		path, err := native(candidate)
		if err == nil {
			return Claude{path, versionOf(path)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			reasons = append(reasons, err)
		}
	}
	return Claude{}, turn.RefuseFor(turn.ClaudeNotFound, errors.Join(reasons...), "Claude Code is not installed; %s", installCure)
}

// InstalledClaude is where `npm install --prefix DATA/claude` leaves the
// launcher.
func InstalledClaude(data string) string {
	return filepath.Join(data, "claude", "node_modules", ".bin", "claude")
}

func (cfg FindConfig) candidates() []string {
	var all []string
	if cfg.Data != "" {
		all = append(all, InstalledClaude(cfg.Data))
	}
	if cfg.Home != "" {
		all = append(all, filepath.Join(cfg.Home, ".npm-global", "bin", "claude"))
	}
	for _, dir := range cfg.Search {
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
func versionOf(path string) string {
	var pkg struct{ Name, Version string }
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "package.json"))
	if err == nil && json.Unmarshal(raw, &pkg) == nil && strings.HasPrefix(pkg.Name, "@anthropic-ai/claude-code") {
		return versionForm.FindString(pkg.Version)
	}
	dir, err := scratch.Make()
	if err != nil {
		return ""
	}
	defer dir.Close()
	home := dir.Path
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
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
