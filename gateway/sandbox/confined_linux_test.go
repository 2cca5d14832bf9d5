package sandbox

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// attempts runs "verb path" attempts inside and outside and checks that those
// that must fail do inside, and would work outside.
func attempts(t *testing.T, p Policy, mustFail []string) {
	t.Helper()
	in := decode[map[string]string](t, confined(t, p, "files", mustFail...))
	out := decode[map[string]string](t, unconfined(t, "files", mustFail...))
	for _, attempt := range mustFail {
		if in[attempt] == "" {
			t.Errorf("could %s", attempt)
		}
		if out[attempt] != "" {
			t.Errorf("%s: vacuous, fails outside too: %s", attempt, out[attempt])
		}
	}
}

// works checks that attempts succeed inside.
func works(t *testing.T, p Policy, attempts ...string) {
	t.Helper()
	for attempt, failure := range decode[map[string]string](t, confined(t, p, "files", attempts...)) {
		if failure != "" {
			t.Errorf("could not %s: %s", attempt, failure)
		}
	}
}

func TestNothingOfTheHostHasAName(t *testing.T) {
	dir := dirOutsideTmp(t)
	write(t, filepath.Join(dir, "file"), "secret")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	attempts(t, Policy{}, []string{
		"read " + dir + "/file", "look " + dir, "look /var", "look /run", "look /home", "look /root",
		"look /sys", "look /opt", "look " + here, "read /etc/passwd", "look /etc/hostname",
		"look /proc/" + strconv.Itoa(os.Getpid()) + "/root", "look /proc/" + strconv.Itoa(os.Getppid()),
	})
}

func TestTheRootIsTheBaseSystemAndNothingElse(t *testing.T) {
	allowed := []string{"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr"}
	for _, name := range decode[[]string](t, confined(t, Policy{}, "list", "/")) {
		if !slices.Contains(allowed, name) {
			t.Errorf("/%s is there", name)
		}
	}
	for _, name := range decode[[]string](t, confined(t, Policy{}, "list", "/etc")) {
		if !slices.Contains([]string{"ld.so.cache", "localtime"}, name) {
			t.Errorf("/etc/%s is there", name)
		}
	}
	want := []string{".deckhand", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}
	if got := decode[[]string](t, confined(t, Policy{}, "list", "/dev")); !slices.Equal(got, want) {
		t.Errorf("/dev holds %v", got)
	}
}

func TestOnlyWritableDirectoriesTakeWrites(t *testing.T) {
	dir := dirOutsideTmp(t)
	ro, rw := filepath.Join(dir, "ro"), filepath.Join(dir, "rw")
	mkdirs(t, ro, rw)
	write(t, ro+"/file", "x")
	write(t, rw+"/file", "x")
	p := Policy{ReadOnly: []string{ro}, Writable: []string{rw}}
	attempts(t, p, []string{
		"create " + ro + "/new", "open-to-write " + ro + "/file", "mode " + ro + "/file", "times " + ro + "/file",
		"rename " + ro + "/file", "link " + ro + "/file", "create " + dir + "/new",
	})
	works(t, p,
		"read "+ro+"/file", "create "+rw+"/new", "open-to-write "+rw+"/file", "mode "+rw+"/file", "rename "+rw+"/file",
		"link "+rw+"/file", "create /tmp/new", "create /dev/shm/new", "open-to-write /dev/null")
	for attempt, failure := range decode[map[string]string](t, confined(t, p, "files",
		"create /new", "create /usr/new", "create /usr/bin/new", "create /etc/new", "create /dev/new", "create /proc/new",
		"create "+stageDir+"/new", "open-to-write "+stagePath, "device "+rw+"/null", "device /tmp/null")) {
		if failure == "" {
			t.Errorf("could %s", attempt)
		}
	}
}

// A policy without a writable path, and one whose paths are files.
func TestAReadOnlyFileIsShownAlone(t *testing.T) {
	dir := dirOutsideTmp(t)
	write(t, dir+"/shown", "x")
	write(t, dir+"/hidden", "x")
	p := Policy{ReadOnly: []string{dir + "/shown"}}
	attempts(t, p, []string{"read " + dir + "/hidden", "open-to-write " + dir + "/shown", "create " + dir + "/new"})
	works(t, p, "read "+dir+"/shown")
}

// A read-only mount lets a writer open a FIFO; Landlock does not.
func TestAFIFOOfAReadOnlyDirectoryTakesNoWrites(t *testing.T) {
	dir := dirOutsideTmp(t)
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(dir+"/fifo", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	attempts(t, Policy{ReadOnly: []string{dir}}, []string{"open-to-write " + dir + "/fifo"})
}

func TestNoKernelSwitchCanBeOpenedForWriting(t *testing.T) {
	if got := decode[[]string](t, confined(t, Policy{}, "writableProc")); len(got) > 0 {
		t.Errorf("could open %v", got)
	}
	if got := decode[[]string](t, unconfined(t, "writableProc")); os.Getuid() == 0 && !slices.Contains(got, "/proc/sys/kernel/core_pattern") {
		t.Errorf("vacuous: root outside opens %v", got)
	}
}

func TestNoProcessOfTheHostIsVisible(t *testing.T) {
	// The stage, the probe, and /proc itself as the probe reads it.
	for _, name := range decode[[]string](t, confined(t, Policy{}, "list", "/proc")) {
		if pid, err := strconv.Atoi(name); err == nil && pid > 20 {
			t.Errorf("process %d is visible", pid)
		}
	}
	attempts(t, Policy{}, []string{
		"signal " + strconv.Itoa(os.Getpid()), "read /proc/" + strconv.Itoa(os.Getpid()) + "/environ",
	})
}

// Pid 1 holds the plan with the command's secrets and the control socket. It
// is the same user, so only its being not dumpable keeps it closed.
func TestPid1IsClosedToTheCommand(t *testing.T) {
	for attempt, failure := range decode[map[string]string](t, confined(t, Policy{}, "files",
		"read /proc/1/environ", "open-to-read-and-write /proc/1/mem", "follow /proc/1/fd/4", "follow /proc/1/exe", "look /proc/1/root/usr", "look /proc/1/cwd/usr")) {
		if failure == "" {
			t.Errorf("could %s", attempt)
		}
	}
	attempts(t, Policy{}, []string{"open-to-read-and-write /proc/" + strconv.Itoa(os.Getpid()) + "/mem"})
}

func TestTheCommandHasNoPrivilegeAndItsLimits(t *testing.T) {
	got := decode[map[string]string](t, confined(t, Policy{}, "status"))
	for name, want := range map[string]string{
		"NoNewPrivs": "1", "Seccomp": "2", "CapEff": noCaps, "CapPrm": noCaps, "CapInh": noCaps, "CapBnd": noCaps, "CapAmb": noCaps,
		"core": "0", "processes": strconv.Itoa(maxProcesses), "tmp": strconv.Itoa(tmpSize), "shm": strconv.Itoa(shmSize),
	} {
		if got[name] != want {
			t.Errorf("%s is %s and not %s", name, got[name], want)
		}
	}
}

func TestTheCommandFindsOnlyWhatItWasGiven(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PARENT", "1")
	dir := canonicalTempDir(t)
	got := decode[surroundings](t, confinedAs(t, Policy{Writable: []string{dir}, Network: PrivateLoopback},
		Command{Dir: dir}, "surroundings", "$(echo x)", "a b", ""))
	if want := []string{"$(echo x)", "a b", ""}; !slices.Equal(got.Args, want) {
		t.Errorf("arguments %q", got.Args)
	}
	if !slices.Equal(got.Env, probeEnv) {
		t.Errorf("environment %q", got.Env)
	}
	if got.Cwd != dir || got.Hostname != "sandbox" {
		t.Errorf("in %s on %s", got.Cwd, got.Hostname)
	}
	if !slices.Equal(got.Interfaces, []string{"lo"}) {
		t.Errorf("interfaces %v", got.Interfaces)
	}
}

func TestNoListenerOfTheHostIsReachable(t *testing.T) {
	dir := dirOutsideTmp(t)
	p := Policy{ReadOnly: []string{dir}, Network: PrivateLoopback}
	abstract := "@deckhand-test-" + strings.ReplaceAll(filepath.Base(dir), "/", "-")
	for _, at := range [][2]string{
		{"tcp", "127.0.0.1:0"}, {"tcp", "[::1]:0"}, {"unix", filepath.Join(dir, "socket")}, {"unix", abstract},
	} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		greeting := greet(t, l)
		addr := l.Addr().String()
		if got := decode[string](t, unconfined(t, "dial", at[0], addr)); got != greeting {
			t.Errorf("vacuous: %s %s answers %q outside", at[0], addr, got)
		}
		if got := decode[string](t, confined(t, p, "dial", at[0], addr)); got != "" {
			t.Errorf("reached %s %s: %q", at[0], addr, got)
		}
	}
}

// greet answers every connection with a line until the test ends.
func greet(t *testing.T, l net.Listener) (line string) {
	t.Helper()
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("ahoy\n"))
			c.Close()
		}
	}()
	return "ahoy"
}

func TestTheHandedOutListenerServesTheCommand(t *testing.T) {
	out := tempFile(t, "")
	var told string
	process, err := launcher(t).Start(t.Context(), Policy{Network: PrivateLoopback, Listen: 20002}, Command{
		Path: stagePath, Stdout: out, Stderr: out,
		Build: func(addr string) (args, env []string) {
			told = addr
			return []string{"probe", "dial", "tcp", addr}, probeEnv
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	greeting := greet(t, process.Listener())
	if exit := process.Wait(); exit != (Exit{}) || told != "127.0.0.1:20002" || process.Addr() != told {
		t.Fatalf("exit %+v, told %q, address %q: %s", exit, told, process.Addr(), contents(t, out))
	}
	if got := decode[string](t, contents(t, out)); got != greeting {
		t.Fatalf("heard %q", got)
	}
	// The port is not the host's, and the listener ended with the tree.
	if got := decode[string](t, unconfined(t, "dial", "tcp", told)); got != "" {
		t.Fatalf("the host hears %q", got)
	}
	if err := process.Listener().Close(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("the listener was still open: %v", err)
	}
}

func TestWithoutPolicyListenThereIsNoListener(t *testing.T) {
	process := launch(t, Policy{Network: PrivateLoopback}, Command{}, "list", "/")
	if l := process.Listener(); l != nil || process.Addr() != "" {
		t.Errorf("listener %v at %q", l, process.Addr())
	}
	process.Wait()
}

// The mounts are the boundary for files: they must hold without the stage's
// Landlock and filter in front of them, as on a kernel that has no Landlock.
func TestTheMountsHoldAlone(t *testing.T) {
	dir := dirOutsideTmp(t)
	ro, rw := filepath.Join(dir, "ro"), filepath.Join(dir, "rw")
	mkdirs(t, ro, rw)
	write(t, ro+"/file", "x")
	alone := func(probe string, args ...string) string {
		t.Helper()
		l := launcher(t)
		made, err := arrange(l.self, Policy{ReadOnly: []string{ro}, Writable: []string{rw}})
		if err != nil {
			t.Fatal(err)
		}
		file, err := argumentFile(made.args)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		cmd := exec.CommandContext(t.Context(), l.bwrap, append([]string{"--args", "3", "--", stagePath, "probe", probe}, args...)...)
		cmd.Env, cmd.ExtraFiles = probeEnv, []*os.File{file}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := decode[[]string](t, alone("writableProc")); len(got) > 0 {
		t.Errorf("could open %v", got)
	}
	for attempt, failure := range decode[map[string]string](t, alone("files",
		"create "+ro+"/new", "open-to-write "+ro+"/file", "mode "+ro+"/file", "create "+dir+"/new",
		"create /new", "create /usr/new", "create /etc/new", "create /dev/new", "create "+stageDir+"/new",
		"device "+rw+"/null", "look /home")) {
		if failure == "" {
			t.Errorf("could %s", attempt)
		}
	}
	for attempt, failure := range decode[map[string]string](t, alone("files", "create "+rw+"/new", "create /tmp/new")) {
		if failure != "" {
			t.Errorf("could not %s: %s", attempt, failure)
		}
	}
}
