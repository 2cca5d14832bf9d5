package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Command is what runs confined.
type Command struct {
	// Path is the absolute path of a program that the Policy or the base
	// system shows.
	Path string
	// Args are the arguments without the program's own name.
	Args []string
	// Env is the whole environment: nothing is inherited.
	Env []string
	// Dir is the working directory, absolute and visible; "" is "/".
	Dir string
	// Stdin, Stdout and Stderr are handed over as they are. nil is the null
	// device. They stay the caller's to close.
	Stdin, Stdout, Stderr *os.File
	// Build, if not nil, makes Args and Env once the address of the listener
	// is known ("127.0.0.1:PORT", or "" without Policy.Listen). Start calls it
	// once, before anything runs; Args and Env are then not used.
	Build func(addr string) (args, env []string)
}

// resolve returns c with Args and Env as they will be, and without Build.
func (c Command) resolve(addr string) (Command, error) {
	if c.Build != nil {
		c.Args, c.Env = c.Build(addr)
		c.Build = nil
	}
	if c.Dir == "" {
		c.Dir = "/"
	}
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) {
		return Command{}, errors.New("program and working directory must be absolute paths")
	}
	for i, s := range c.Args {
		if strings.ContainsRune(s, 0) {
			return Command{}, fmt.Errorf("argument %d holds a zero byte", i+1)
		}
	}
	for i, s := range c.Env {
		// Neither may be shown: without "=" the whole entry may be a secret.
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" || strings.ContainsRune(s, 0) {
			return Command{}, fmt.Errorf("environment entry %d is not NAME=VALUE", i+1)
		}
	}
	return c, nil
}

// Exit is how a command ended.
type Exit struct {
	// Code is its status, or -1 if a signal ended it.
	Code int
	// Signal is the name of that signal, "SIGTERM" for example, else "". A
	// tree that was killed before its command ended says "SIGKILL".
	Signal string
}
