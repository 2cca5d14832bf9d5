package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// killed is how a tree ends that was not left to end by itself.
var killed = Exit{Code: -1, Signal: "SIGKILL"}

// pipe is a pipe whose reader the test keeps.
func pipe(t *testing.T) (r *bufio.Reader, w *os.File) {
	t.Helper()
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pr.Close()
		pw.Close()
	})
	return bufio.NewReader(pr), pw
}

// awaitReady reads the line with which a probe says that it is there.
func awaitReady(t *testing.T, r *bufio.Reader) {
	t.Helper()
	if line, err := r.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("heard %q, %v", line, err)
	}
}

// lockFree reports whether no process holds the tree's lock: none is left.
func lockFree(t *testing.T, dir string) bool {
	t.Helper()
	lock, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

func TestExitTellsStatusAndSignal(t *testing.T) {
	for arg, want := range map[string]Exit{
		"0": {}, "3": {Code: 3}, "255": {Code: 255},
		"SIGKILL": {Code: -1, Signal: "SIGKILL"}, "SIGTERM": {Code: -1, Signal: "SIGTERM"},
	} {
		process := launch(t, Policy{}, Command{}, "exit", arg)
		if got := process.Wait(); got != want {
			t.Errorf("exit %s: %+v", arg, got)
		}
		if got := process.Wait(); got != want {
			t.Errorf("exit %s, asked again: %+v", arg, got)
		}
		// Too late, and harmless.
		process.Terminate()
		process.Kill()
	}
}

func TestStandardStreamsArePassedOn(t *testing.T) {
	out, err := tempFile(t, ""), tempFile(t, "")
	process := launch(t, Policy{}, Command{Stdin: tempFile(t, "ahoy"), Stdout: out, Stderr: err}, "say")
	if exit := process.Wait(); exit != (Exit{}) {
		t.Fatal(exit)
	}
	if contents(t, out) != "out ahoy" || contents(t, err) != "err ahoy" {
		t.Errorf("%q and %q", contents(t, out), contents(t, err))
	}
	// The null device, where none is given.
	if exit := launch(t, Policy{}, Command{}, "say").Wait(); exit != (Exit{}) {
		t.Fatal(exit)
	}
}

// A reader sees the end of a pipe when the command closes it: neither the
// stage nor bwrap holds it open.
func TestAPipeEndsWhenTheCommandClosesIt(t *testing.T) {
	r, w := pipe(t)
	process := launch(t, Policy{}, Command{Stdout: w}, "silent")
	w.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := r.ReadByte()
		ended <- err
	}()
	// If the pipe stays open, the read ends only with the tree.
	go func() {
		process.Wait()
		ended <- nil
	}()
	late := time.AfterFunc(lingerTime/2, process.Kill)
	defer late.Stop()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the pipe outlived the command's end of it: %v", err)
	}
	process.Terminate()
	if exit := process.Wait(); exit != (Exit{}) {
		t.Errorf("exit %+v", exit)
	}
}

func TestTerminateReachesTheCommandAndLetsItEnd(t *testing.T) {
	r, w := pipe(t)
	process := launch(t, Policy{}, Command{Stdout: w}, "polite")
	awaitReady(t, r)
	process.Terminate()
	if exit := process.Wait(); exit != (Exit{Code: 7}) {
		t.Fatalf("exit %+v", exit)
	}
}

func TestKillEndsTheWholeTree(t *testing.T) {
	dir := dirOutsideTmp(t)
	r, w := pipe(t)
	process := launch(t, Policy{Writable: []string{dir}}, Command{Stdout: w}, "tree", dir)
	awaitReady(t, r)
	if lockFree(t, dir) {
		t.Fatal("vacuous: the tree does not hold its lock")
	}
	process.Terminate() // all ignore it
	process.Kill()
	if exit := process.Wait(); exit != killed {
		t.Errorf("exit %+v", exit)
	}
	if !lockFree(t, dir) {
		t.Error("something of the tree is left after Wait")
	}
}

func TestTheEndOfTheContextEndsTheTree(t *testing.T) {
	dir := dirOutsideTmp(t)
	r, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	process, err := launcher(t).Start(ctx, Policy{Writable: []string{dir}},
		Command{Path: stagePath, Args: []string{"probe", "tree", dir}, Env: probeEnv, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	awaitReady(t, r)
	cancel()
	if exit := process.Wait(); exit != killed {
		t.Errorf("exit %+v", exit)
	}
	if !lockFree(t, dir) {
		t.Error("something of the tree is left after Wait")
	}
	// And one that has ended lets nothing start.
	if _, err := launcher(t).Start(ctx, Policy{}, Command{Path: stagePath}); !errors.Is(err, context.Canceled) {
		t.Errorf("started under a context that had ended: %v", err)
	}
}

// kill -9 of the process that launched: nobody is left to clean up.
func TestTheTreeDiesWithItsLauncher(t *testing.T) {
	for range 3 {
		dir := dirOutsideTmp(t)
		r, w := pipe(t)
		cmd := exec.Command("/proc/self/exe", "launch", dir)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		awaitReady(t, r)
		if lockFree(t, dir) {
			t.Fatal("vacuous: the tree does not hold its lock")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		awaitLock(t, dir)
	}
}

// At whatever moment of a start the launcher dies: the pipe ends when the last
// process is gone that was on its way into the sandbox.
func TestNothingIsLeftOfAStartWhoseLauncherDied(t *testing.T) {
	for after := range 30 {
		dir := dirOutsideTmp(t)
		r, w := pipe(t)
		cmd := exec.Command("/proc/self/exe", "launch", dir)
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		time.Sleep(time.Duration(after) * 2 * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		awaitEnd(t, r)
	}
}

// The same for a context that ends: Start says so, and nothing is left.
func TestNothingIsLeftOfAStartThatWasCancelled(t *testing.T) {
	l := launcher(t)
	for after := range 30 {
		dir := dirOutsideTmp(t)
		r, w := pipe(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(after)*time.Millisecond)
		process, err := l.Start(ctx, Policy{Writable: []string{dir}},
			Command{Path: stagePath, Args: []string{"probe", "tree", dir}, Env: probeEnv, Stdout: w})
		w.Close()
		if err == nil {
			process.Wait()
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled after %d ms: %v", after, err)
		}
		cancel()
		awaitEnd(t, r)
	}
}

// bwrap itself killed: pid 1 has a death signal.
func TestTheTreeDiesWithItsWrapper(t *testing.T) {
	dir := dirOutsideTmp(t)
	r, w := pipe(t)
	process := launch(t, Policy{Writable: []string{dir}}, Command{Stdout: w}, "tree", dir)
	awaitReady(t, r)
	if err := process.tree.(*wrapper).cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if exit := process.Wait(); exit != killed {
		t.Errorf("exit %+v", exit)
	}
	if !lockFree(t, dir) {
		t.Error("something of the tree is left after Wait")
	}
}

// awaitEnd reads until nobody holds the other end of the pipe.
func awaitEnd(t *testing.T, r io.Reader) {
	t.Helper()
	survivor := time.AfterFunc(lingerTime/2, func() { panic("something survived") })
	defer survivor.Stop()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
}

// awaitLock waits until no process of the tree holds the lock. If one survives
// it keeps it until it ends by itself, and the test fails.
func awaitLock(t *testing.T, dir string) {
	t.Helper()
	lock, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	survivor := time.AfterFunc(lingerTime/2, func() { panic("something of the tree survived its launcher") })
	defer survivor.Stop()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

// What goes over the socket stands nowhere else: not in an argument list, not
// in the environment of bwrap or of the stage.
func TestSecretsAreOnlyInTheCommandItself(t *testing.T) {
	const secret = "secret-of-the-run-4711"
	r, w := pipe(t)
	process, err := launcher(t).Start(t.Context(), Policy{}, Command{
		Path: stagePath, Args: []string{"probe", "polite"}, Env: append([]string{"KEY=" + secret}, probeEnv...), Stdout: w,
	})
	if err != nil {
		t.Fatal(err)
	}
	awaitReady(t, r)
	found := 0
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range paths {
		if text, _ := os.ReadFile(dir + "/cmdline"); strings.Contains(string(text), secret) {
			t.Errorf("in the arguments of %s", dir)
		}
		text, _ := os.ReadFile(dir + "/environ")
		if !strings.Contains(string(text), secret) {
			continue
		}
		found++
		if args, _ := os.ReadFile(dir + "/cmdline"); !strings.Contains(string(args), "probe\x00polite") {
			t.Errorf("in the environment of %q", args)
		}
	}
	if found != 1 {
		t.Errorf("in %d environments, not in the command's alone", found)
	}
	process.Terminate()
	process.Wait()
}

func TestNoDescriptorIsLeftOpen(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	l := launcher(t)
	once := func() {
		process, err := l.Start(t.Context(), Policy{Network: PrivateLoopback, Listen: 20003},
			Command{Path: stagePath, Args: []string{"probe", "list", "/"}, Env: probeEnv})
		if err != nil {
			t.Fatal(err)
		}
		process.Wait()
		if _, err := l.Start(t.Context(), Policy{Network: PrivateLoopback, Listen: 20003}, Command{Path: "/no/such/program"}); err == nil {
			t.Fatal("started what is not there")
		}
	}
	once() // what the runtime keeps is open after this
	before := count()
	for range 3 {
		once()
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
