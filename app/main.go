package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(program()) }

// program is main with deferred calls that run before the exit.
func program() int {
	if code, ok := stage(os.Args[1:]); ok {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for the end; the second one does not ask.
	context.AfterFunc(ctx, stop)
	stdio := Stdio{Out: os.Stdout, Err: os.Stderr, In: os.Stdin}
	return report(stdio, run(ctx, os.Args[1:], os.Environ(), stdio))
}
