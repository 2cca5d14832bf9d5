package rig

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/app/demo/process"
	"deckhand/gateway/admin"
	"deckhand/gateway/turn"
	"deckhand/tests/fakechatgpt"
)

// endWithin bounds the orderly end of a gateway and of what it started.
const endWithin = 60 * time.Second

// Ground is where one gateway lives, and what can be seen of it from outside.
type Ground struct {
	// Root holds everything of the gateway's, State and Home below it.
	Root, State, Home string
	// Book has every word of every conversation with it.
	Book *fakechatgpt.Transcript

	t      testing.TB
	frozen []int // by Freeze
}

func newGround(t testing.TB) *Ground {
	t.Helper()
	// Not t.TempDir: sockets need short paths.
	root, err := os.MkdirTemp("", "dh-")
	if err != nil {
		t.Fatal(err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	g := &Ground{t: t, Root: root, State: filepath.Join(root, "state"), Home: filepath.Join(root, "home"),
		Book: &fakechatgpt.Transcript{}}
	for _, dir := range []string{g.State, g.Home, g.scratch()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// scratch is the gateway's TMPDIR.
func (g *Ground) scratch() string { return filepath.Join(g.Root, "tmp") }

// Admin is a client of the gateway's admin socket.
func (g *Ground) Admin() *admin.Client {
	g.t.Helper()
	client, err := admin.NewClient(g.State)
	if err != nil {
		g.t.Fatal(err)
	}
	return client
}

// Events returns the events of a session, or of all if the id is "".
func (g *Ground) Events(id string) []turn.Event {
	g.t.Helper()
	var all []turn.Event
	for {
		after := uint64(0)
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		some, err := g.Admin().Events(g.t.Context(), after, turn.SessionID(id), admin.MaxEvents)
		if err != nil {
			g.t.Fatal(err)
		}
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
	}
}

// Processes returns the live processes that name the state directory, and what
// descends from them: the gateway, its shims, their sandboxes, Claude Code.
func (g *Ground) Processes() []process.Process {
	g.t.Helper()
	all, err := process.List()
	if err != nil {
		g.t.Fatal(err)
	}
	var live []process.Process
	for _, p := range process.Naming(all, g.State) {
		if !p.Ended {
			live = append(live, p)
		}
	}
	return live
}

// stopSessions stops what runs: a gateway's end leaves runs alive on purpose.
func (g *Ground) stopSessions(ctx context.Context) error {
	g.Thaw()
	client, err := admin.NewClient(g.State)
	if err != nil {
		return err
	}
	sessions, err := client.List(ctx)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.Status.Live() || s.Status == turn.AwaitingApproval {
			if _, err := client.Stop(ctx, s.SessionID, "the test is over"); err != nil {
				return fmt.Errorf("stop the session of a test: %w", err)
			}
		}
	}
	return nil
}

// leave checks that nothing runs or lies about any more, and removes the rest.
func (g *Ground) leave(ctx context.Context) {
	g.awaitNothing(ctx)
	err := filepath.WalkDir(g.Root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSocket != 0 || strings.HasPrefix(path, g.scratch()+"/") {
			g.t.Errorf("left behind: %s", path)
		}
		return nil
	})
	if err != nil {
		g.t.Error(err)
	}
	if err := os.RemoveAll(g.Root); err != nil {
		g.t.Error(err)
	}
}

func (g *Ground) awaitNothing(ctx context.Context) {
	for {
		left := g.Processes()
		if len(left) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			g.t.Errorf("still running after the gateway ended: %+v", left)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}
