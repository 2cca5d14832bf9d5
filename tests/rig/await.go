package rig

import (
	"testing"
	"time"
)

// awaitWithin is how long anything may take that happens by itself, on a busy
// machine.
const awaitWithin = 2 * time.Minute

// Await looks until a condition holds, and ends the test if it never does.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(awaitWithin); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", awaitWithin, what)
		}
	}
}
