package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of one call of git.
const (
	defaultTimeout = 2 * time.Minute
	// maxOutput bounds what is read of a list of names, in bytes.
	maxOutput = 256 << 20
	maxStderr = 16 << 10
)

// runner starts git. Nothing else in this package starts a program.
type runner struct {
	// git is the absolute path of the program.
	git string
	// empty is an empty directory of ours: HOME, and all that PATH names.
	empty   string
	timeout time.Duration
}

// command is one call of git.
type command struct {
	args []string
	// dir is the working directory, "" for the empty one.
	dir string
	// env is added to the environment.
	env []string
	// config are settings that win over every file.
	config []setting
	stdin  []byte
	// input is read instead of stdin, if set.
	input io.Reader
	// stdout takes the output; if nil, run returns it, up to maxOutput.
	stdout io.Writer
	// unbounded says that stdout takes whatever comes.
	unbounded bool
	// held stays locked until git and all that it started has ended, if set.
	held *os.File
}

// setting is one value of Git's configuration.
type setting struct{ key, value string }

// exitError is a call of git that ended in failure. It is a private cause: git
// quotes names, paths and settings.
type exitError struct {
	verb   string
	code   int
	stderr string
}

func (e *exitError) Error() string {
	return fmt.Sprintf("git %s: exit status %d: %s", e.verb, e.code, e.stderr)
}

// exitCode gives the exit status of a call that ran and failed, else -1.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return -1
}

// errOutputTooLong ends a call whose output passes its bound.
var errOutputTooLong = errors.New("output is too long")

// environment is all that git is told, whatever the gateway's own environment
// says. Commands that git starts inherit it.
func (r *runner) environment() []string {
	return []string{
		"HOME=" + r.empty, "XDG_CONFIG_HOME=" + r.empty, "PATH=" + r.empty,
		"LC_ALL=C", "TZ=UTC0",
		// The empty directory belongs to no repository, whatever lies above it.
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.empty),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_REPLACE_OBJECTS=1",
		// Objects that are not there stay away: no transport is allowed.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PROTOCOL_FROM_USER=0", "GIT_SSH_COMMAND=false",
		// An empty ASKPASS also ends the search for another one.
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
		"GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0",
	}
}

// overrides win over whatever a repository's configuration says: they are what
// Git could execute in the few calls that read it.
var overrides = []setting{
	{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.untrackedCache", "false"},
	{"core.pager", "cat"}, {"core.editor", "false"}, {"core.askPass", ""}, {"core.sshCommand", "false"},
	{"core.alternateRefsCommand", "false"}, {"credential.helper", ""}, {"protocol.allow", "never"},
	{"diff.external", ""}, {"gpg.program", "false"}, {"gpg.ssh.program", "false"}, {"gpg.x509.program", "false"},
	{"commit.gpgSign", "false"}, {"tag.gpgSign", "false"},
	{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"submodule.recurse", "false"},
	{"branch.autoSetupMerge", "false"}, {"branch.autoSetupRebase", "never"}, {"worktree.guessRemote", "false"},
	// The reflog of our branch would be one more thing in the source.
	{"core.logAllRefUpdates", "false"},
	{"core.attributesFile", "/dev/null"}, {"core.excludesFile", "/dev/null"},
}

// run calls git and waits for it and for all it started.
func (r *runner) run(ctx context.Context, c command) ([]byte, error) {
	if len(c.args) == 0 {
		return nil, errors.New("run git: no arguments")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("git %s did not end within %v", c.args[0], r.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, r.git, c.args...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = r.empty
	}
	cmd.Env = append(r.environment(), c.env...)
	cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(c.config)))
	for i, s := range c.config {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	cmd.Stdin = bytes.NewReader(c.stdin)
	if c.input != nil {
		cmd.Stdin = c.input
	}
	out := &bounded{w: c.stdout, left: maxOutput}
	if c.stdout == nil {
		out.w = &out.buf
	}
	if c.unbounded {
		out.left = math.MaxInt64
	}
	stderr := &bounded{left: maxStderr, drop: true}
	stderr.w = &stderr.buf
	cmd.Stdout, cmd.Stderr = out, stderr
	if c.held != nil {
		cmd.ExtraFiles = []*os.File{c.held}
	}
	// A group of its own, so that its children end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("run git %s: %w", c.args[0], context.Cause(ctx))
	}
	if out.err != nil {
		return nil, fmt.Errorf("run git %s: %w", c.args[0], out.err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.buf.Bytes(), &exitError{verb: c.args[0], code: exit.ExitCode(), stderr: strings.TrimSpace(stderr.buf.String())}
	}
	if err != nil {
		return nil, fmt.Errorf("run git %s: %w", c.args[0], err)
	}
	return out.buf.Bytes(), nil
}

// bounded passes on at most left bytes. What is more is dropped, or an error.
type bounded struct {
	w    io.Writer
	buf  bytes.Buffer
	left int64
	drop bool
	// err is why writing ended early.
	err error
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := p
	if int64(len(keep)) > b.left {
		if !b.drop {
			b.err = errOutputTooLong
			return 0, b.err
		}
		keep = keep[:b.left]
	}
	b.left -= int64(len(keep))
	if _, err := b.w.Write(keep); err != nil {
		b.err = err
		return 0, err
	}
	return len(p), nil
}
