package executor

import (
	"math/rand/v2"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// pool is what names are drawn from: those that sort oddly, those that are
// protected, those that no terminal shows as they are.
var pool = []string{"a", "b", "a.txt", "b.txt", "a-b", "a b", "A.TXT", "ü.txt", "u\u0308.txt", "new\nline.txt", "bad\xff\xfe.txt", `"quoted".txt`, ".hidden", ".git", ".GIT", ".env", ".env.example", ".gitignore", "core.17", "-n", "z", " lead", "tail "}

// grow fills a folder at random.
func (f *fixture) grow(rnd *rand.Rand, rel string, depth int, files *[]string) {
	f.mkdir(rel)
	for _, i := range rnd.Perm(len(pool))[:rnd.IntN(9)] {
		path := rel + "/" + pool[i]
		switch k := rnd.IntN(20); {
		case k < 6 && depth > 0:
			f.grow(rnd, path, depth-1, files)
		case k == 6:
			f.symlink([]string{"a", f.home, "/", "nowhere", f.work}[rnd.IntN(5)], path)
		case k == 7 && len(*files) > 0:
			f.link((*files)[rnd.IntN(len(*files))], path)
		case k == 8:
			if err := unix.Mknod(f.path(path), unix.S_IFIFO|0o600, 0); err != nil {
				f.t.Fatal(err)
			}
		default:
			f.write(path, content(rnd))
			*files = append(*files, path)
		}
	}
}

const needle = "Nädel"

// content makes a file: lines of many lengths, some with the needle, some
// binary, some no UTF-8.
func content(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(30) {
		switch rnd.IntN(12) {
		case 0, 1:
			b.WriteString("x " + needle + " y")
		case 2:
			b.WriteString(needle + needle)
		case 3:
			b.WriteString(strings.Repeat("long ü ", rnd.IntN(600)) + needle + strings.Repeat(" 😀", rnd.IntN(600)))
		case 4:
			b.WriteString("nädel NÄDEL NäDEL")
		case 5:
			b.WriteString("tab\tcr\r")
		default:
			b.WriteString(strings.Repeat("filler ", rnd.IntN(20)))
		}
		if rnd.IntN(20) > 0 {
			b.WriteString([]string{"\n", "\r\n"}[rnd.IntN(2)])
		}
	}
	switch rnd.IntN(12) {
	case 0:
		b.WriteString("\x00")
	case 1:
		b.WriteString("\xff " + needle + " \xe2\x82")
	}
	return b.String()
}

func (f *fixture) randomTree(rnd *rand.Rand) {
	if err := os.RemoveAll(f.work); err != nil {
		f.t.Fatal(err)
	}
	var files []string
	f.mkdir("work")
	for _, dir := range []string{"work", "work/d1", "work/d2", "work/d1.x"} {
		f.grow(rnd, dir, 3, &files)
	}
}
