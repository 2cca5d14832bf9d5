package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Without a sandbox the same attempts succeed, and what they leave on the host
// is seen: that they fail inside says something.
func TestTheSameAttemptsSucceedWithoutASandbox(t *testing.T) {
	t.Setenv(secretName, "secret-of-the-gateway")
	g := newGround(t, "")
	for _, a := range attempts {
		if a.free == never {
			continue
		}
		t.Run(a.id+" "+a.what, func(t *testing.T) {
			o := unconfined(t, g, a.id)
			kept := os.Getuid() != 0 && a.free == rootThrough
			switch {
			case a.free == maybe && !o.through() && a.want != nil && o.meets(a.want) && len(a.want) > 0:
				t.Logf("as inside: %s (%s)", o.Error, a.why)
			case a.free != maybe && !kept && !o.through():
				t.Errorf("failed outside too: %s", o.Error)
			}
			if a.left != nil && a.free != maybe && !kept && a.left(g) == nil {
				t.Error("the host does not see what it left")
			}
		})
	}
}

// unconfined makes one attempt as this user, in a process of its own: what it
// does to itself must not be met by the next.
func unconfined(t *testing.T, g *ground, id string) outcome {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.must(t, err)
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), g.Probe, "attempts", g.work("ground.json"), id)
	cmd.Dir, cmd.Stdout, cmd.Stderr = g.Work, out, out
	cmd.Env = append(g.env(), secretName+"="+os.Getenv(secretName))
	harmless(cmd)
	// A launcher in this process may have closed it for children.
	_, err = unix.FcntlInt(uintptr(g.Descriptor), unix.F_SETFD, 0)
	g.must(t, err)
	err = cmd.Run()
	results := map[string]outcome{}
	collect(t, out, results)
	o, made := results[id]
	if !made {
		return outcome{ID: id, Error: "ended: " + err.Error()}
	}
	return o
}
