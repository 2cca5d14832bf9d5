//go:build !linux

package demo

import "deckhand/app/demo/process"

// adoptOrphans does nothing: this system has no such notion, and leftover finds
// processes by what their command lines name.
func adoptOrphans() (release func(), err error) { return func() {}, nil }

// leftover lists the live processes whose command line names the directory.
func leftover(dir string) ([]process.Process, error) {
	all, err := process.List()
	if err != nil {
		return nil, err
	}
	return alive(process.Naming(all, dir)), nil
}
