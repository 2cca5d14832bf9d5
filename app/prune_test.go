package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNothingIsPrunedWithoutAYes(t *testing.T) {
	w := newWorld(t).serve()
	for _, args := range [][]string{{"prune"}, {"prune", "--json"}, {"prune", "--session", "zzzz"}, {"prune", "--yes", "--older-than", "soon"}} {
		if r := w.run(args...); r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
	r := w.run("prune", "--dry-run", "--older-than", "1d")
	if r.code != exitOK || !strings.Contains(r.out, sesOld) || !strings.Contains(r.out, "1 session would be removed") {
		t.Errorf("dry run: %+v", r)
	}
	if r := w.run("prune", "--session", "zzzz", "--yes"); r.code != exitOK || !strings.Contains(r.out, "1 session removed") {
		t.Errorf("one: %+v", r)
	}
	if diff := cmp.Diff([]string{"prune 1 true", "prune 1 false"}, w.engine.asked); diff != "" {
		t.Error(diff)
	}
}
