package protected

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkScreen is what each command pays where 40 places of the home are
// hidden, and what a new look at the disk costs.
func BenchmarkScreen(b *testing.B) {
	home := filepath.Join(realPrefix(b.TempDir()), "me")
	made := 0
	for _, g := range table {
		if g.kind != Hidden {
			continue
		}
		for _, path := range g.both {
			if len(path) > 2 && path[:2] == "~/" && !isGlob(path) && made < 40 {
				made++
				if err := os.MkdirAll(filepath.Join(home, path[2:]), 0o700); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	project := home + "/src/project"
	for i := range 100 {
		if err := os.MkdirAll(fmt.Sprintf("%s/dir%d", project, i), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	p, err := New(Config{Home: home, State: home + "/state"})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("screen", func(b *testing.B) {
		for b.Loop() {
			if list, err := p.Screen(project, home+"/src"); err != nil || len(list) < 30 {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("survey", func(b *testing.B) {
		for b.Loop() {
			p.survey()
		}
	})
}
