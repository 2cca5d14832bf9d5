package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Fields of /proc/PID/stat after the name, counted from 0.
const (
	statState   = 0
	statParent  = 1
	statStarted = 19
)

// List reads the process table.
func List() ([]Process, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Process
	for _, path := range paths {
		if p, ok := read(path); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

func read(path string) (Process, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Process{}, false // it has ended since
	}
	// The name stands in parentheses and may hold some itself.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) <= statStarted {
		return Process{}, false
	}
	pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
	if err != nil {
		return Process{}, false
	}
	parent, err := strconv.Atoi(fields[statParent])
	if err != nil {
		return Process{}, false
	}
	// Unreadable for a process that has ended; it then has no command line.
	args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
	return Process{
		PID: pid, Parent: parent, Name: string(raw[open+1 : end]),
		Args:    strings.TrimSpace(string(bytes.ReplaceAll(args, []byte{0}, []byte{' '}))),
		Started: fields[statStarted], Ended: fields[statState] == "Z",
	}, true
}
