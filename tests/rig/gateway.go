package rig

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"deckhand/app/demo/child"
	"deckhand/gateway/crash"
	"deckhand/tests/fakechatgpt"
)

// Gateway is a gateway of one test, in a process of its own.
type Gateway struct {
	*Ground
	*child.Gateway
	// plain is the program as users have it, over the same state.
	plain child.Options
}

// crashAt is the variable by which the crashing program knows where to die.
const crashAt = "DECKHAND_CRASH_AT="

// Option changes how a gateway is run.
type Option func(*child.Options)

// With adds variables, NAME=value.
func With(variables ...string) Option {
	return func(o *child.Options) { o.Env = append(o.Env, variables...) }
}

// CrashingAt runs a program that kills itself at a point of a write.
func CrashingAt(t testing.TB, point crash.Point) Option {
	t.Helper()
	self := CrashingProgram(t)
	return func(o *child.Options) {
		o.Self = self
		o.Env = append(o.Env, crashAt+string(point))
	}
}

// Start runs a gateway until the end of the test.
func Start(t testing.TB, options ...Option) *Gateway {
	t.Helper()
	ground := newGround(t)
	opt := child.Options{Self: Program(t), Claude: Claude(t), State: ground.State, Home: ground.Home,
		Env: []string{"TMPDIR=" + ground.scratch()}}
	if os.Geteuid() == 0 {
		opt.Args = append(opt.Args, "--allow-root")
	}
	for _, change := range options {
		change(&opt)
	}
	ground.State = opt.State
	plain := opt
	plain.Self = Program(t)
	plain.Env = slices.DeleteFunc(slices.Clone(opt.Env), func(v string) bool { return strings.HasPrefix(v, crashAt) })
	g := &Gateway{Ground: ground, Gateway: child.New(opt), plain: plain}
	t.Cleanup(g.end)
	if err := g.Gateway.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// Again starts the gateway after it was killed or stopped.
func (g *Gateway) Again() {
	g.t.Helper()
	if err := g.Gateway.Start(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
}

// AgainDying starts, over the same state, the program that kills itself at a
// point, "point:n" for its nth time, or "" for never. It says false if it did so
// before it answered.
func (g *Gateway) AgainDying(at string) bool {
	g.t.Helper()
	opt := g.plain
	opt.Self = CrashingProgram(g.t)
	opt.Env = append(slices.Clone(opt.Env), crashAt+at)
	g.Gateway = child.New(opt)
	err := g.Start(g.t.Context())
	if err != nil && at == "" {
		g.t.Fatal(err)
	}
	return err == nil
}

// AgainPlain starts the program as users have it, once the one that kills
// itself is gone.
func (g *Gateway) AgainPlain() {
	g.t.Helper()
	Await(g.t, "the gateway to kill itself", func() bool { return !g.Running() })
	g.Gateway = child.New(g.plain)
	g.Again()
}

// RunCrashingAt runs a command, with no gateway running, by a program that kills
// itself the nth time that it comes to a point of a write. It returns how the
// command ended.
func (g *Gateway) RunCrashingAt(point crash.Point, nth int, args ...string) error {
	g.t.Helper()
	opt := g.plain
	CrashingAt(g.t, crash.Point(fmt.Sprintf("%s:%d", point, nth)))(&opt)
	_, err := child.New(opt).Run(g.t.Context(), args...)
	return err
}

// Crash kills the gateway.
func (g *Gateway) Crash() {
	g.t.Helper()
	if err := g.Kill(); err != nil {
		g.t.Fatal(err)
	}
}

// Chat opens a conversation of the newer protocol era.
func (g *Gateway) Chat() *fakechatgpt.Chat {
	g.t.Helper()
	return fakechatgpt.Open(g.t, g.URL(), g.Token(), false, g.Book)
}

// OldChat opens a conversation of the older protocol era.
func (g *Gateway) OldChat() *fakechatgpt.Chat {
	g.t.Helper()
	return fakechatgpt.Open(g.t, g.URL(), g.Token(), true, g.Book)
}

// end ends everything of the gateway's and says what would not go.
func (g *Gateway) end() {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	if g.t.Failed() {
		g.t.Logf("the gateway's last words:\n%s", g.Words())
	}
	if !g.Running() && len(g.Processes()) > 0 {
		// Only a gateway can end in order what the last one left.
		if err := g.Gateway.Start(ctx); err != nil {
			g.t.Error(err)
		}
	}
	if g.Running() {
		if err := g.stopSessions(ctx); err != nil {
			g.t.Error(err)
		}
	}
	if err := g.Stop(); err != nil {
		g.t.Error(err)
	}
	g.leave(ctx)
}
