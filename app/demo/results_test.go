package demo

import (
	"slices"
	"testing"
)

const list = `3 files in /srv/shop, more to come; paths are relative to it
README.md
lib/
"odd\nname"
lib/skipped: no
more: the limit of 3 entries is reached; go on with cursor abc
skipped: 1 .git entry
`

func TestFilesAreReadFromAList(t *testing.T) {
	files, err := filesIn(list)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/srv/shop/README.md", "/srv/shop/odd\nname", "/srv/shop/lib/skipped: no"}; !slices.Equal(files, want) {
		t.Errorf("the files are %q, want %q", files, want)
	}
	if _, err := filesIn("something else\n"); err == nil {
		t.Error("another text was taken for a list")
	}
}

const search = `3 lines with the text in 2 files below /srv/shop, more to come; 1,204 files searched
lib/till.go
12: 	// the till
7: the: till
"odd\nname"
1: till
truncated: nothing
skipped: nothing
`

func TestHitsAreReadFromASearch(t *testing.T) {
	hits, err := hitsIn(search)
	if err != nil {
		t.Fatal(err)
	}
	want := []hit{
		{"/srv/shop/lib/till.go", 12, "\t// the till"}, {"/srv/shop/lib/till.go", 7, "the: till"},
		{"/srv/shop/odd\nname", 1, "till"},
	}
	if !slices.Equal(hits, want) {
		t.Errorf("the hits are %+v, want %+v", hits, want)
	}
	if hits, err := hitsIn("0 lines with the text below /srv; 1 file searched\ntruncated: nothing\nskipped: nothing\n"); err != nil || len(hits) > 0 {
		t.Errorf("an empty search is read as %v, %v", hits, err)
	}
	if _, err := hitsIn("something else\n"); err == nil {
		t.Error("another text was taken for a search")
	}
}
