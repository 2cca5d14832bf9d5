//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// startedWords is how many words ps prints for lstart.
const startedWords = 5

// List reads the process table.
func List() ([]Process, error) {
	out, err := exec.Command("ps", "-axww", "-o", "pid=,ppid=,stat=,lstart=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Process
	for line := range strings.SplitSeq(string(out), "\n") {
		words := strings.Fields(line)
		if len(words) < 3+startedWords {
			continue
		}
		pid, err := strconv.Atoi(words[0])
		if err != nil {
			continue
		}
		parent, err := strconv.Atoi(words[1])
		if err != nil {
			continue
		}
		p := Process{
			PID: pid, Parent: parent, Ended: strings.HasPrefix(words[2], "Z"),
			Started: strings.Join(words[3:3+startedWords], " "),
			Args:    strings.Join(words[3+startedWords:], " "),
		}
		if name, _, _ := strings.Cut(p.Args, " "); name != "" {
			p.Name = filepath.Base(name)
		}
		all = append(all, p)
	}
	return all, nil
}
