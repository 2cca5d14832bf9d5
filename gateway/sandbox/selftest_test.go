package sandbox

import (
	"testing"
)

func launcher(t *testing.T) *Launcher {
	t.Helper()
	self := "/proc/self/exe"
	l, err := Find(Config{Self: self})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSelfTest(t *testing.T) {
	if err := launcher(t).SelfTest(t.Context()); err != nil {
		t.Fatal(err)
	}
}
