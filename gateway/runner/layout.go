package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"deckhand/gateway/turn"
)

// Names in a run directory and in a session's home.
const (
	planName   = "plan.json"
	lockName   = "lock"
	exitName   = "exit.json"
	serversMCP = "mcp.json"
	cwdName    = "cwd"
	pathName   = "path"

	homeName   = "home"
	configName = "config"
	tmpName    = "tmp"
)

// Dir is a run directory.
type Dir string

func (d Dir) file(name string) string { return filepath.Join(string(d), name) }
func (d Dir) toolServers() string     { return d.file(serversMCP) }
func (d Dir) emptyPath() string       { return d.file(pathName) }

// WorkingDirectory is where Claude Code starts. It is empty.
func (d Dir) WorkingDirectory() string { return d.file(cwdName) }

// Shown are the paths that Claude Code has to see, read-only.
func (d Dir) Shown() []string {
	return []string{d.WorkingDirectory(), d.emptyPath(), d.toolServers()}
}

// ShimLog, Stdout and Stderr are the log files.
func (d Dir) ShimLog() string { return d.file("shim.log") }

// Stdout names the kinds of Claude Code's output lines, without contents.
func (d Dir) Stdout() string { return d.file("stdout.log") }

// Stderr holds the beginning of what Claude Code complained about.
func (d Dir) Stderr() string { return d.file("stderr.log") }

// Dir returns the directory of a run.
func (r *Runner) Dir(run turn.RunID) Dir { return Dir(filepath.Join(r.cfg.Runs, string(run))) }

// Home returns the home of a session, which Prepare makes.
func (r *Runner) Home(session turn.SessionID) string {
	return filepath.Join(r.cfg.Homes, homeOf(session))
}

// homeOf is a session's name among the homes. It is short, because programs
// put sockets below it.
func homeOf(session turn.SessionID) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:8])
}

// privateDir makes a directory that only this user can use, or checks that it
// is one. It returns the path without symlinks.
func privateDir(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return "", err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is not a directory of this user", real)
	}
	if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(real, 0o700); err != nil {
			return "", err
		}
	}
	return real, nil
}
