package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// wanted is what the script can do something with.
const wanted = "the demo needs a directory with at least two text files and, in their names, " +
	"a word of four letters or more that one of them holds too"

const (
	// looksAt bounds how many entries of a directory are looked at; one with
	// more is taken as it is.
	looksAt = 20_000
	// peek is how much of a file has to look like text, in bytes.
	peek = 8 << 10
)

// UnfitError says why a directory cannot be explored.
type UnfitError struct{ cause error }

func (e *UnfitError) Error() string { return e.cause.Error() }
func (e *UnfitError) Unwrap() error { return e.cause }

// fit returns the real path of a directory that the explorer can do something
// with. Whether a word of the names turns up in a file only its search tells.
// The error is an *UnfitError.
func fit(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &UnfitError{fmt.Errorf("find %s: %w", dir, err)}
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", &UnfitError{fmt.Errorf("find the directory to explore: %w", err)}
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", &UnfitError{fmt.Errorf("find the directory to explore: %w", err)}
	}
	if !info.IsDir() {
		return "", &UnfitError{fmt.Errorf("%s is not a directory: %s", real, wanted)}
	}
	texts, words, err := contents(real)
	if err != nil {
		return "", &UnfitError{fmt.Errorf("look into the directory to explore: %w", err)}
	}
	if texts < 2 || !words {
		return "", &UnfitError{fmt.Errorf("there is too little in %s: %s", real, wanted)}
	}
	return real, nil
}

// contents counts text files up to two, and reports whether the name of any
// file has a word to search for.
func contents(dir string) (texts int, words bool, err error) {
	seen := 0
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case path == dir:
			return err
		case err != nil:
			return nil // the explorer cannot read it either
		case entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if seen++; seen > looksAt {
			texts, words = 2, true
			return fs.SkipAll
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		words = words || len(frequent(dir, []string{path})) > 0
		if texts < 2 && isText(path) {
			texts++
		}
		if texts == 2 && words {
			return fs.SkipAll
		}
		return nil
	})
	return texts, words, err
}

// isText reports whether a file can be read, is not empty and does not look
// binary.
func isText(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, peek)
	n, err := io.ReadFull(file, head)
	if n == 0 || (err != nil && !errors.Is(err, io.ErrUnexpectedEOF)) {
		return false
	}
	return bytes.IndexByte(head[:n], 0) < 0
}
