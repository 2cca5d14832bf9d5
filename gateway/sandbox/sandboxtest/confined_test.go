package sandboxtest

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deckhand/gateway/sandbox"
)

func launcher(t *testing.T) *sandbox.Launcher {
	t.Helper()
	l, err := sandbox.Find(sandbox.Config{Self: self()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every attempt through the real launcher, with the policy of a command.
func TestNoAttemptGetsOut(t *testing.T) {
	t.Setenv(secretName, "secret-of-the-gateway")
	g := newGround(t, "")
	results := map[string]outcome{}
	var together []string
	for _, a := range attempts {
		if !a.alone {
			together = append(together, a.id)
		}
	}
	confined(t, g, together, results)
	for _, a := range attempts {
		if a.alone {
			confined(t, g, []string{a.id}, results)
		}
	}
	for _, a := range attempts {
		t.Run(a.id+" "+a.what, func(t *testing.T) {
			o, made := results[a.id]
			switch {
			case !made:
				t.Error("was not made: what came before ended the sandbox")
			case a.want == nil && !o.through():
				t.Errorf("does not work: %s", o.Error)
			case a.want != nil && o.through():
				t.Error("got through")
			case a.want != nil && !o.meets(a.want):
				t.Errorf("failed otherwise than with %s: %s", a.want, o.Error)
			}
			if a.left != nil {
				if err := a.left(g); err != nil {
					t.Error(err)
				}
			}
			if err := g.alive(); err != nil {
				t.Error(err)
			}
		})
	}
}

// confined makes attempts in one sandbox.
func confined(t *testing.T, g *ground, ids []string, results map[string]outcome) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.must(t, err)
	defer out.Close()
	process, err := launcher(t).Start(t.Context(), g.policy(), sandbox.Command{
		Path: g.Probe, Args: append([]string{"attempts", g.work("ground.json")}, ids...),
		Dir: g.Work, Env: g.env(), Stdout: out, Stderr: out,
	})
	g.must(t, err)
	exit := process.Wait()
	collect(t, out, results)
	if exit != (sandbox.Exit{}) {
		t.Errorf("the attempts ended with %+v", exit)
	}
}

// collect reads the outcomes that a process wrote.
func collect(t *testing.T, out *os.File, results map[string]outcome) {
	t.Helper()
	if _, err := out.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Logf("an attempt printed %q", lines.Text())
			continue
		}
		results[o.ID] = o
	}
}

// A project below a private place is brought back into it, and as closed there:
// the place itself takes no writes then.
func TestAProjectInATemporaryDirectoryIsAsClosed(t *testing.T) {
	g := newGround(t, "/tmp")
	results := map[string]outcome{}
	about := []string{"C01", "C03", "C04", "C04a", "C05", "R14", "R14a", "R14b", "W01", "W01a", "W01b", "W01c", "W01d", "W01e", "W02", "W03",
		"W06", "W06a", "W06b", "W06c", "W07", "W07a", "W07b", "W07c", "W07d", "W08", "W09", "W09a", "W19", "N07", "N21", "N21a"}
	confined(t, g, about, results)
	for _, a := range find(about) {
		switch o := results[a.id]; {
		case a.want == nil && !o.through():
			t.Errorf("%s does not work: %s", a.id, o.Error)
		case a.want != nil && !o.meets(a.want):
			t.Errorf("%s (%s) was to fail with %s: %q", a.id, a.what, a.want, o.Error)
		}
	}
}

func TestTheTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range attempts {
		switch {
		case seen[a.id]:
			t.Errorf("%s stands there twice", a.id)
		case a.id == "" || a.what == "" || a.try == nil:
			t.Errorf("%s is not complete", a.id)
		case (a.free != through) != (a.why != ""):
			t.Errorf("%s does not say why it is as it is without a sandbox", a.id)
		}
		seen[a.id] = true
	}
}
