package demo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deckhand/assets"
)

// copySample writes the sample project to dir, which must not exist, and
// returns how many files it has.
func copySample(dir string) (int, error) {
	if err := os.CopyFS(dir, assets.Sample()); err != nil {
		return 0, fmt.Errorf("copy the sample project: %w", err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count the sample's files: %w", err)
	}
	return files, nil
}
