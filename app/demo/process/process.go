package process

import "strings"

// Process is one entry of the process table.
type Process struct {
	PID, Parent int
	Name        string
	// Args is the command line, its words joined by spaces.
	Args string
	// Started says when the process began, in the system's own terms.
	Started string
	// Ended says that it has ended and only waits for its parent to notice.
	Ended bool
}

// Below returns the processes of all that descend from pid, without pid.
func Below(all []Process, pid int) []Process {
	return descend(all, map[int]bool{pid: true})
}

// Naming returns the processes of all whose command line holds text, and
// everything that descends from one of them.
func Naming(all []Process, text string) []Process {
	roots := map[int]bool{}
	var found []Process
	for _, p := range all {
		if strings.Contains(p.Args, text) {
			roots[p.PID] = true
			found = append(found, p)
		}
	}
	return append(found, descend(all, roots)...)
}

// descend returns the processes of all that descend from one in seen, which it
// extends.
func descend(all []Process, seen map[int]bool) []Process {
	var found []Process
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if seen[p.Parent] && !seen[p.PID] {
				seen[p.PID], grew = true, true
				found = append(found, p)
			}
		}
	}
	return found
}
