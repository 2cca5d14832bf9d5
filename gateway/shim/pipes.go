package shim

import "os"

// pipe has an end for each side: near is the shim's, far Claude Code's.
type pipe struct{ near, far *os.File }

// pipes are Claude Code's standard input and outputs.
type pipes struct{ stdin, stdout, stderr pipe }

func openPipes() (p pipes, err error) {
	defer func() {
		if err != nil {
			p.closeFar()
			p.closeNear()
		}
	}()
	if p.stdin.far, p.stdin.near, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.stdout.near, p.stdout.far, err = os.Pipe(); err != nil {
		return p, err
	}
	p.stderr.near, p.stderr.far, err = os.Pipe()
	return p, err
}

// closeFar closes Claude Code's ends once it has them, or never will. Closing
// a file that is nil does nothing.
func (p pipes) closeFar() { closeAll(p.stdin.far, p.stdout.far, p.stderr.far) }

func (p pipes) closeNear() { closeAll(p.stdin.near, p.stdout.near, p.stderr.near) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}
