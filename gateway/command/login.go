package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// loginLimit is how long a login shell may take to start. Those with several
// version managers take a second or two.
const loginLimit = 10 * time.Second

// maxLogin bounds what is read of a login shell, with all that its start-up
// files print.
const maxLogin = 4 << 20

// loginNames are the variables that a login shell is started with, besides
// those of a locale: what a desktop or a service manager gives to programs.
var loginNames = []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "TZ", "TMPDIR", "ZDOTDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// PrintEnvironment is the hidden subcommand that the login shell runs: it
// writes its environment, each variable with a zero byte behind it, between
// two marks, so that nothing that a start-up file prints is taken for it.
func PrintEnvironment(w io.Writer, mark string, environ []string) error {
	_, err := fmt.Fprintf(w, "%s\x00%s\x00%s", mark, strings.Join(environ, "\x00"), mark)
	return err
}

// askLogin starts the user's shell as a login does and returns the variables
// that it ends up with. It is interactive, because version managers are often
// set up in the files of an interactive shell. It has no terminal and no input,
// and ends with all that it started in its process group.
func askLogin(ctx context.Context, self, shell string, environ map[string]string) (map[string]string, error) {
	if !filepath.IsAbs(shell) {
		return nil, errors.New("SHELL names no absolute path")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginLimit, fmt.Errorf("it did not finish within %s", loginLimit))
	defer cancel()
	mark := rand.Text()
	cmd := exec.Command(shell, "-l", "-i", "-c", quote(self)+" environment "+mark)
	cmd.Dir = "/"
	for _, name := range loginNames {
		if value, ok := environ[name]; ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, locale(environ)...)
	cmd.Env = append(cmd.Env, "TERM=dumb", "DECKHAND_ASKS_ENVIRONMENT=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// The errors are that it is gone already, which is what is wanted.
	killAll := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stop := context.AfterFunc(ctx, func() {
		killAll()
		out.Close() // something that left the group may hold the other end
	})
	vars, err := readEnvironment(out, mark)
	killAll() // what it printed is all that was wanted of it
	stop()
	_ = cmd.Wait() // how a shell ends that was killed says nothing
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return vars, err
}

// readEnvironment reads up to the second mark and not to the end of the output,
// which something that the shell started may hold open.
func readEnvironment(r io.Reader, mark string) (map[string]string, error) {
	var all []byte
	buf := make([]byte, 32<<10)
	begin, end := []byte(mark+"\x00"), []byte("\x00"+mark)
	for len(all) < maxLogin {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if _, rest, ok := bytes.Cut(all, begin); ok {
			if body, _, ok := bytes.Cut(rest, end); ok {
				return parseEnvironment(body), nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it ended without telling its environment")
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.New("it prints too much")
}

func parseEnvironment(body []byte) map[string]string {
	vars := map[string]string{}
	for entry := range bytes.SplitSeq(body, []byte{0}) {
		if name, value, ok := strings.Cut(string(entry), "="); ok && name != "" {
			vars[name] = value
		}
	}
	return vars
}

// quote makes one word of a path for every shell that this may be.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
