package command

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"deckhand/gateway/protected"
	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

// BenchmarkTrue runs true as a session does, and as the sandbox does when it is
// told everything, by turns; the ratio is what this package adds.
func BenchmarkTrue(b *testing.B) {
	base := b.TempDir()
	self, err := os.Executable()
	must(b, err)
	launcher, err := sandbox.Find(sandbox.Config{Self: self})
	must(b, err)
	for _, dir := range []string{"/home", "/project"} {
		must(b, os.Mkdir(base+dir, 0o755))
	}
	paths, err := protected.New(protected.Config{Home: base + "/home", State: base + "/state"})
	must(b, err)
	r, err := New(Config{
		Self: self, Home: base + "/home", Cache: base + "/cache", Protected: paths, Log: slog.New(slog.DiscardHandler),
		Environ:  map[string]string{"PATH": os.Getenv("PATH"), "SHELL": "/bin/sh"},
		Launcher: func(context.Context) (*sandbox.Launcher, error) { return launcher, nil },
	})
	must(b, err)
	c := Call{Session: turn.NewSessionID(), Argv: []string{"true"}, Dir: base + "/project", Root: base + "/project", Timeout: time.Minute, Progress: func(int64, int64) {}}
	if got := r.Run(b.Context(), c); got.Outcome != turn.OK { // asks the login shell
		b.Fatal(got.Text)
	}
	p, err := r.prepare(b.Context(), c)
	must(b, err)
	var ours, bare time.Duration
	for b.Loop() {
		began := time.Now()
		r.Run(b.Context(), c)
		ours += time.Since(began)
		began = time.Now()
		process, err := launcher.Start(b.Context(), p.policy, p.command)
		must(b, err)
		process.Wait()
		bare += time.Since(began)
	}
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}
