package sandboxtest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"deckhand/gateway/sandbox"
)

// N20: what a command listens on is not the host's. Unconfined it is.
func TestNobodyOutsideReachesWhatACommandListensOn(t *testing.T) {
	g := newGround(t, "")
	r, w, err := os.Pipe()
	g.must(t, err)
	defer r.Close()
	process, err := launcher(t).Start(t.Context(), g.policy(), sandbox.Command{
		Path: g.Probe, Args: []string{"listen"}, Dir: g.Work, Env: g.env(), Stdout: w, Stderr: w})
	w.Close()
	g.must(t, err)
	if addr := heardAddress(t, bufio.NewReader(r)); hear("tcp", addr) == nil {
		t.Error("the host reaches it")
	}
	process.Kill()
	process.Wait()

	cmd := exec.CommandContext(t.Context(), g.Probe, "listen")
	cmd.Env = g.env()
	out, err := cmd.StdoutPipe()
	g.must(t, err)
	g.must(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if err := hear("tcp", heardAddress(t, bufio.NewReader(out))); err != nil {
		t.Errorf("vacuous: nor does it without a sandbox: %v", err)
	}
}

func heardAddress(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
