package rig

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"deckhand/gateway"
	"deckhand/tests/fakechatgpt"
)

// Tuned is what no user can set: how Claude Code itself waits and remembers.
type Tuned struct {
	// ClaudeEnv is added to Claude Code's environment.
	ClaudeEnv []string
	// ShortWaits leaves out what makes Claude Code wait for hours.
	ShortWaits bool
}

// Inside is a gateway in the test's own process. Its shims are processes of the
// built program, as ever.
type Inside struct {
	*Ground
	url, token string
}

// InProcess runs a gateway in this process until the end of the test.
func InProcess(t testing.TB, tuned Tuned) *Inside {
	t.Helper()
	g := &Inside{Ground: newGround(t)}
	served, err := gateway.New(t.Context(), gateway.Config{
		StateDir: g.State, Home: g.Home, LocalAddr: "127.0.0.1:0", ConnectorAddr: "127.0.0.1:0",
		Self: Program(t), Claude: Claude(t), ClaudeEnv: tuned.ClaudeEnv, ShortWaits: tuned.ShortWaits,
		WorktreeRoot: filepath.Join(g.Home, "worktrees"), CacheDir: filepath.Join(g.Home, "cache"), Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- served.Run(ctx) }()
	t.Cleanup(func() {
		within, stop := context.WithTimeout(context.Background(), endWithin)
		defer stop()
		if err := g.stopSessions(within); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		g.leave(within)
	})
	g.url, g.token = "http://"+served.LocalAddr()+"/mcp", served.LocalToken()
	return g
}

// Chat opens a conversation.
func (g *Inside) Chat() *fakechatgpt.Chat {
	g.t.Helper()
	return fakechatgpt.Open(g.t, g.url, g.token, false, g.Book)
}
