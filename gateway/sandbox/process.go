package sandbox

import "net"

// Config says what a Launcher works with.
type Config struct {
	// Self is the absolute path of a deckhand binary: its hidden subcommand
	// "stage" is the first program inside.
	Self string
	// Bubblewrap is the absolute path of bwrap; "" looks it up.
	Bubblewrap string
}

// Process is a confined command and everything it started.
type Process struct {
	listener net.Listener
	addr     string
	tree     tree
	done     chan struct{}
	exit     Exit // valid once done is closed
}

// tree ends what Start began. It is safe to use at any time, also later.
type tree interface {
	terminate()
	kill()
}

// Listener returns the listener on Addr, or nil without Policy.Listen. It is
// closed when the tree is gone; the caller may close it before.
func (p *Process) Listener() net.Listener { return p.listener }

// Addr is where the command reaches the Listener: "127.0.0.1:PORT", or "".
func (p *Process) Addr() string { return p.addr }

// Wait returns when the whole tree is gone, and may be called by many.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Terminate sends SIGTERM to the command, and to nothing else of the tree.
func (p *Process) Terminate() { p.tree.terminate() }

// Kill ends the whole tree at once. Wait tells when it is gone.
func (p *Process) Kill() { p.tree.kill() }
