package executor

import (
	"testing"
)

func TestWriteCreatesAndReplaces(t *testing.T) {
	f := newFixture(t).writing()
	r := f.ok("Write", args{"file_path": "a/b/c.txt", "content": "one\ntwo\n"})
	t.Log(r.Text)
	if f.disk("work/a/b/c.txt") != "one\ntwo\n" || !r.Write.Created {
		t.Fatalf("%+v", r.Write)
	}
	r = f.ok("Write", args{"file_path": f.path("work/a/b/c.txt"), "content": "three\n"})
	t.Log(r.Text)
	w := f.intents[1]
	if st, _, err := f.e.Look(w.Path); err != nil || st != w.After {
		t.Fatal(st, w.After, err)
	}
	r = f.e.Revert(t.Context(), w, f.befores[1], f.sink())
	t.Log(r.Text)
	r = f.e.Revert(t.Context(), f.intents[0], f.befores[0], f.sink())
	t.Log(r.Text)
	t.Log(f.e.Settle(f.intents[0]))
	t.Log(f.e.CheckRoot(f.work), f.e.CheckRoot(f.home), f.e.CheckRoot("/etc"), f.e.CheckRoot(f.base))
}
