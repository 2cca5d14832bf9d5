package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// clipboards are the programs that put their standard input on the clipboard,
// and whether each fits the desktop that env describes.
var clipboards = []struct {
	argv []string
	fits func(env map[string]string) bool
}{
	{[]string{"pbcopy"}, func(map[string]string) bool { return true }},
	{[]string{"wl-copy"}, func(env map[string]string) bool { return env["WAYLAND_DISPLAY"] != "" }},
	{[]string{"xclip", "-selection", "clipboard"}, func(env map[string]string) bool { return env["DISPLAY"] != "" }},
	{[]string{"xsel", "--clipboard", "--input"}, func(env map[string]string) bool { return env["DISPLAY"] != "" }},
}

// copyTimeout bounds how long a clipboard's program may take.
const copyTimeout = 5 * time.Second

// copy puts text on the clipboard. The text goes by standard input: it may hold
// a token, which an argument list would show to others.
func (a *app) copy(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	for _, c := range clipboards {
		path, err := a.lookPath(c.argv[0])
		if err != nil || !c.fits(a.env) {
			continue
		}
		cmd := exec.CommandContext(ctx, path, c.argv[1:]...)
		cmd.Stdin = strings.NewReader(text)
		cmd.Env = a.environ()
		// Some of these stay behind as the owner of the clipboard.
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
			return fmt.Errorf("copy with %s: %w", c.argv[0], err)
		}
		return nil
	}
	return withHint(errors.New("there is no program that copies to the clipboard"), "install wl-clipboard or xclip")
}

// environ is the environment as programs get it.
func (a *app) environ() []string {
	var env []string
	for name, value := range a.env {
		env = append(env, name+"="+value)
	}
	return env
}
