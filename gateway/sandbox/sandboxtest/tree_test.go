package sandboxtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/gateway/sandbox"
)

// A tree is what a command started. Each of its processes left the command's
// session, ignores what asks it to end, and keeps a lock and the command's
// output open: the lock is free when none is left, and the output ends.
const (
	// few forks twice for each.
	few = "few"
	// many are as many as the sandbox lets be, up to 2,000.
	many = "many"
)

// treeMain grows a tree, says so, and stays, or ends and leaves it behind.
func treeMain(kind, dir string) int {
	stay := filepath.Base(dir) == "stay"
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = grow(kind, lock)
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	if stay {
		ignoreSignals() // before anybody hears that it is ready
	}
	fmt.Fprintln(os.Stdout, "ready")
	if stay {
		linger()
	}
	return 0
}

func grow(kind string, lock *os.File) error {
	var cmd *exec.Cmd
	times := 4
	switch kind {
	case few:
		self, err := os.Executable()
		if err != nil {
			return err
		}
		// The shell ends and leaves its child to whoever takes it.
		cmd = exec.Command("sh", "-c", `"$0" linger 3>&3 & exit 0`, self)
	case many:
		times = 1
		cmd = exec.Command("python3", "-c", `
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for i in range(2000):
    try:
        if os.fork() == 0:
            os.setsid()
            while True:
                signal.pause()
    except BlockingIOError:
        break
`)
	}
	for range times {
		c := *cmd
		c.Stdout, c.ExtraFiles = os.Stdout, []*os.File{lock}
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

// planted is a tree in a sandbox.
type planted struct {
	process *sandbox.Process
	out     *bufio.Reader
	dir     string
}

// plant starts a command that grows a tree, and waits until it has.
func plant(t *testing.T, ctx context.Context, g *ground, kind, how string) planted {
	t.Helper()
	dir := g.cache(how)
	g.must(t, os.MkdirAll(dir, 0o700))
	g.must(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	r, w, err := os.Pipe()
	g.must(t, err)
	t.Cleanup(func() { r.Close() })
	defer w.Close()
	process, err := launcher(t).Start(ctx, g.policy(), treeCommand(g, kind, dir, w))
	g.must(t, err)
	p := planted{process, bufio.NewReader(r), dir}
	p.ready(t)
	return p
}

func treeCommand(g *ground, kind, dir string, out *os.File) sandbox.Command {
	return sandbox.Command{Path: g.Probe, Args: []string{"tree", kind, dir}, Dir: g.Work, Env: g.env(), Stdout: out, Stderr: out}
}

// ready waits for the word of the command, past those of its tree.
func (p planted) ready(t *testing.T) {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil || len(line) < 6 || line[len(line)-6:] != "ready\n" {
		t.Fatalf("heard %q, %v", line, err)
	}
}

// gone checks that nothing of the tree is left, now.
func (p planted) gone(t *testing.T) {
	t.Helper()
	if !p.free(t) {
		t.Error("something of the tree holds its lock after Wait")
	}
	if _, err := io.Copy(io.Discard, p.out); err != nil {
		t.Error(err)
	}
}

func (p planted) free(t *testing.T) bool {
	t.Helper()
	lock, err := os.Open(filepath.Join(p.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// P08: what a command leaves behind does not outlive it.
func TestATreeIsGoneWhenItsCommandHasEnded(t *testing.T) {
	g := newGround(t, "")
	for _, kind := range []string{few, many} {
		p := plant(t, t.Context(), g, kind, "end")
		if exit := p.process.Wait(); exit != (sandbox.Exit{}) {
			t.Errorf("%s: exit %+v", kind, exit)
		}
		p.gone(t)
	}
}

// P11: nor one that is ended, by its time or by a stop.
func TestATreeIsGoneWhenItIsEnded(t *testing.T) {
	g := newGround(t, "")
	for _, kind := range []string{few, many} {
		ctx, cancel := context.WithCancel(t.Context())
		for how, end := range map[string]func(*sandbox.Process){
			"kill":    func(p *sandbox.Process) { p.Kill() },
			"context": func(*sandbox.Process) { cancel() },
		} {
			p := plant(t, ctx, g, kind, "stay")
			if p.free(t) {
				t.Fatal("vacuous: the tree does not hold its lock")
			}
			p.process.Terminate() // all ignore it
			end(p.process)
			if exit := p.process.Wait(); exit != (sandbox.Exit{Code: -1, Signal: "SIGKILL"}) {
				t.Errorf("%s, %s: exit %+v", kind, how, exit)
			}
			p.gone(t)
			if how == "context" {
				ctx, cancel = context.WithCancel(t.Context())
			}
		}
		cancel()
	}
}

// P10: kill -9 of the process that started it. Nobody is left to clean up.
func TestATreeDiesWithItsLauncher(t *testing.T) {
	g := newGround(t, "")
	for _, kind := range []string{few, many} {
		dir := g.cache("stay")
		g.must(t, os.MkdirAll(dir, 0o700))
		g.must(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
		r, w, err := os.Pipe()
		g.must(t, err)
		cmd := exec.Command(self(), "launch", g.work("ground.json"), kind)
		cmd.Stdout, cmd.Stderr = w, w
		g.must(t, cmd.Start())
		w.Close()
		p := planted{out: bufio.NewReader(r), dir: dir}
		p.ready(t)
		if p.free(t) {
			t.Fatal("vacuous: the tree does not hold its lock")
		}
		g.must(t, cmd.Process.Kill())
		cmd.Wait()
		// An order and no stopwatch: this ends when the last of the tree has.
		// One that survives ends by itself much later, and the test has failed.
		survivor := time.AfterFunc(lingers/2, func() { panic("something of the tree survived its launcher") })
		if _, err := io.Copy(io.Discard, p.out); err != nil {
			t.Error(err)
		}
		survivor.Stop()
		p.gone(t)
		r.Close()
	}
}

// launchMain is a program that starts a tree in a sandbox and waits for it: the
// one that a test kills.
func launchMain(where, kind string) int {
	g, err := loadGround(where)
	if err == nil {
		err = launch(g, kind)
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	return 0
}

func launch(g *ground, kind string) error {
	l, err := sandbox.Find(sandbox.Config{Self: self()})
	if err != nil {
		return err
	}
	p, err := l.Start(context.Background(), g.policy(), treeCommand(g, kind, g.cache("stay"), os.Stdout))
	if err != nil {
		return err
	}
	if exit := p.Wait(); exit != (sandbox.Exit{}) {
		return errors.New("the tree did not end by itself")
	}
	return nil
}
