package executor

import "testing"

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		fold, want    bool
	}{
		{"*.go", "a/b/c.go", false, true},
		{"*.go", "c.gox", false, false},
		{"*.GO", "c.go", false, false},
		{"*.GO", "c.go", true, true},
		{"c.go", "a/c.go", false, true},
		{"c.go", "a/xc.go", false, false},
		{"C.go", "a/c.GO", true, true},
		{"*", ".hidden", false, true},
		{"?", "ü", false, true},
		{"?", "ab", false, false},
		{"{a,b}.{go,md}", "x/b.md", false, true},
		{"[!a]*", "b", false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
		{"src/*.go", "src/a.go", false, true},
		{"src/*.go", "src/x/a.go", false, false},
		{"src/**/*.go", "src/x/y/a.go", false, true},
		{"src/**/*.go", "src/a.go", false, true},
		{"src/**", "src/x/y", false, true},
		{"**/test/**", "a/test/b/c", false, true},
		{"./src/a", "src/a", false, true},
		{"caf\u00e9*", "cafe\u0301.txt", false, true},
		{"cafe\u0301*", "caf\u00e9.txt", false, true},
		{"*.txt", "bad\xff.txt", false, true},
		{"bad?.txt", "bad\xff.txt", false, true},
	} {
		dir, name := "", c.path
		for i := len(c.path) - 1; i >= 0; i-- {
			if c.path[i] == '/' {
				dir, name = c.path[:i+1], c.path[i+1:]
				break
			}
		}
		if err := checkGlob(c.pattern); err != nil {
			t.Errorf("%q: %v", c.pattern, err)
		}
		if got := newGlob(c.pattern, c.fold).match(dir, name); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
}

func TestPatternWithSlashAtItsEndFindsFolders(t *testing.T) {
	f := newFixture(t)
	f.write("work/x/build/a", "")
	f.write("work/build", "")
	if got, _, _ := f.pages("FindFiles", args{"pattern": "build/"}); len(got) != 1 || got[0] != "x/build/" {
		t.Errorf("%q", got)
	}
}

func TestNamesAreShownUnambiguously(t *testing.T) {
	for name, want := range map[string]string{
		"plain.txt": "plain.txt", "a b/ü": "a b/ü", "a\nb": `"a\nb"`, "\xff": `"\xff"`, `"`: `"\""`, " a": `" a"`, "a ": `"a "`, "": `""`, "\u202ea": `"\u202ea"`, "\uFFFD": `"�"`, "\u00a0": `"\u00a0"`, "😀": "😀", `a\nb`: `a\nb`,
	} {
		if got := showName(name); got != want {
			t.Errorf("%q is shown as %s", name, got)
		}
	}
}
