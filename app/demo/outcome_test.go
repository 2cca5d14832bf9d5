package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestAnInterruptHidesNothing: the command prints an interrupt as one word.
func TestAnInterruptHidesNothing(t *testing.T) {
	left, written := errors.New("left"), errors.New("written")
	for _, c := range []struct {
		shown, left, written error
		says                 string
	}{
		{nil, nil, nil, ""},
		{context.Canceled, nil, nil, "context canceled"},
		{context.Canceled, left, nil, "left"},
		{context.Canceled, nil, written, "write the story: written"},
		{errors.New("shown"), left, written, "shown\nleft\nwrite the story: written"},
	} {
		said := ""
		if err := outcome(c.shown, c.left, c.written); err != nil {
			said = err.Error()
		}
		if said != c.says {
			t.Errorf("%v, %v, %v end as %q, want %q", c.shown, c.left, c.written, said, c.says)
		}
	}
}

// deaf takes a few writes and no more.
type deaf struct{ left int }

func (d *deaf) Write(p []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("nobody listens")
	}
	return len(p), nil
}

func TestTheFirstWriteThatFailsEndsTheShow(t *testing.T) {
	called := 0
	tell := newTeller(&deaf{left: 1}, false, func() { called++ })
	for range 4 {
		tell.say(demoS, "hello")
	}
	if called != 1 || tell.err == nil || !strings.Contains(tell.err.Error(), "nobody listens") {
		t.Errorf("unheard was called %d times, with %v", called, tell.err)
	}
}
