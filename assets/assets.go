// Package assets holds the files that ship inside the program.
//
// Sample is a small, complete project with one real mistake in it, on which
// the demo shows what Deckhand does. The files are listed by kind, so that
// what running the sample leaves behind is never taken along.
//
// Not covered: icons and menu texts, which belong to the tray.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed sample/*.md sample/*.py sample/barrel/*.py sample/data/*.csv
//go:embed sample/docs/*.md sample/notebooks/*.ipynb sample/tests/*.py
var sample embed.FS

// Sample returns the sample project, its README at the top.
func Sample() fs.FS {
	sub, err := fs.Sub(sample, "sample")
	if err != nil { // the name is valid, so fs.Sub cannot fail
		panic(err)
	}
	return sub
}
