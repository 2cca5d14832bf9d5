package shim

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
)

// Limits on what is kept of Claude Code's output, in bytes.
const (
	// maxLine bounds a line of output that is looked into: the last one holds
	// a whole reply of 768 KiB, whose characters may take six bytes each.
	maxLine = 6 << 20
	maxLog  = 256 << 10
)

// ending is what the exit record needs of Claude Code's output.
type ending struct {
	version string
	result  bool
	isError bool
	subtype string
}

// line has the members of an output line that are looked at.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Version string `json:"claude_code_version"`
	IsError bool   `json:"is_error"`
}

// readOutput reads Claude Code's output to its end, and notes in log what kind
// of line came. It holds one line at a time.
func readOutput(r io.Reader, log io.Writer) (ending, error) {
	var e ending
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		raw, err := readLine(lines)
		var l line
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &l) != nil:
			io.WriteString(log, "not a JSON line\n")
		default:
			io.WriteString(log, l.Type+" "+l.Subtype+"\n")
			switch {
			case l.Type == "system" && l.Subtype == "init":
				e.version = l.Version
			case l.Type == "result":
				e.result, e.isError, e.subtype = true, l.IsError, l.Subtype
			}
		}
		if errors.Is(err, io.EOF) {
			return e, nil
		}
		if err != nil {
			return e, err
		}
	}
}

// readLine returns the next line, or nothing of it if it is over maxLine.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	over := false
	for {
		part, err := r.ReadSlice('\n')
		if !over {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			line, over = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// boundedFile keeps the first bytes that are written to it and swallows the
// rest, so that whoever writes never stops.
type boundedFile struct {
	mu   sync.Mutex
	file *os.File // guarded by mu
	left int      // guarded by mu
}

// createBounded makes a private file that takes at most maxLog bytes.
func createBounded(path string) (*boundedFile, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &boundedFile{file: file, left: maxLog}, nil
}

func (b *boundedFile) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	keep := p[:min(len(p), b.left)]
	b.left -= len(keep)
	if _, err := b.file.Write(keep); err != nil {
		b.left = 0 // a full disk must not end the run
	}
	return len(p), nil
}

func (b *boundedFile) Close() error { return b.file.Close() }
