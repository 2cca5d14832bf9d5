package sandboxtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/ordinary"
	"deckhand/gateway/sandbox"
)

// ground is what the attempts meet on the host. It is made anew for every run,
// and its description is handed to the confined process in a file.
type ground struct {
	// Home is a user's home, Work the session's directory, State the gateway's,
	// Cache the session's own folder, Probe this test binary.
	Home, Work, State, Cache, Probe string
	// Temp is a directory below the shared temporary one, in none of the above.
	Temp string
	// TCP4, TCP6, UDP4 and LAN are addresses on which the host listens. TCP6 and
	// LAN are "" where there is none.
	TCP4, TCP6, UDP4, LAN string
	// Datagram and Abstract are addresses of unix sockets of the host.
	Datagram, Abstract string
	// Process is a process of this user's, outside. Its environment holds Secret
	// under the name of secretName, and it keeps a file with Secret open.
	Process int
	// Descriptor is one that this process was born with.
	Descriptor int
	// Secret is what nobody may find.
	Secret string
	// Number is a credential of one name only, as /.vol of macOS knows it.
	Number string
	// SharedMemory is the key of a segment of the host's.
	SharedMemory int
}

const secretName = "DECKHAND_TEST_SECRET"

func (g *ground) home(name string) string  { return filepath.Join(g.Home, name) }
func (g *ground) work(name string) string  { return filepath.Join(g.Work, name) }
func (g *ground) cache(name string) string { return filepath.Join(g.Cache, name) }

// policy is the policy of a command on this ground.
func (g *ground) policy() sandbox.Policy {
	return sandbox.Policy{
		View: sandbox.WholeSystem, Network: sandbox.PrivateLoopback,
		ReadOnly: []string{g.Work}, Writable: []string{g.Cache},
		Hidden: []string{
			g.home(".ssh"), g.home(".aws"), g.home(".netrc"), g.home("bin/model"),
			g.work(".env"), g.work("private"), g.State,
		},
	}
}

// env is the whole environment of a command.
func (g *ground) env() []string {
	return []string{"HOME=" + g.cache("home"), "TMPDIR=" + g.cache("tmp"), "PATH=" + toolFolders() + "/usr/local/bin:/usr/bin:/bin", "LANG=C",
		"GIT_OPTIONAL_LOCKS=0", "GORACE=atexit_sleep_ms=0"}
}

// base is a directory that no sandbox has one of its own of, unless where says
// another.
func base(t *testing.T, where string) string {
	t.Helper()
	if where == "" {
		where = os.Getenv("HOME")
		if os.Getuid() == 0 {
			// Ordinary users cannot enter root's home.
			where = "/srv"
			if _, err := os.Stat(where); errors.Is(err, fs.ErrNotExist) {
				where = "/"
			}
		}
	}
	dir, err := os.MkdirTemp(where, "deckhand-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// removeAll also removes what an attempt closed.
func removeAll(t *testing.T, dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}

func newGround(t *testing.T, where string) *ground {
	t.Helper()
	dir := base(t, where)
	g := &ground{
		Home: filepath.Join(dir, "home"), Work: filepath.Join(dir, "home/work"), State: filepath.Join(dir, "home/state"),
		Cache: filepath.Join(dir, "cache"), Probe: filepath.Join(dir, "home/work/probe"),
		Secret: "secret-of-" + filepath.Base(dir),
	}
	for _, d := range []string{".ssh", ".aws", "bin", "state", ".config", "work/private", "work/sub"} {
		g.must(t, os.MkdirAll(g.home(d), 0o700))
	}
	for _, d := range []string{"home", "tmp"} {
		g.must(t, os.MkdirAll(g.cache(d), 0o700))
	}
	for _, f := range []string{".ssh/id", ".aws/credentials", ".netrc", "state/token", "work/.env", "work/private/key"} {
		g.must(t, os.WriteFile(g.home(f), []byte(g.Secret), 0o600))
	}
	for _, f := range []string{".bashrc", "work/README", "work/sub/file", "work/victim", "readable"} {
		g.must(t, os.WriteFile(g.home(f), []byte("nothing special\n"), 0o600))
	}
	g.must(t, os.WriteFile(g.home("bin/model"), []byte("#!/bin/sh\necho I think\n"), 0o700))
	g.must(t, os.Symlink("../.ssh/id", g.work("link")))
	g.must(t, os.Link(g.home(".ssh/id"), g.home("twin")))
	g.repository(t)
	ordinary.CopyProgram(t, self(), g.Probe)
	var err error
	if g.Temp, err = os.MkdirTemp("/tmp", "deckhand-test-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, g.Temp) })
	g.must(t, os.WriteFile(filepath.Join(g.Temp, "file"), []byte("x"), 0o600))
	g.listen(t)
	g.start(t)
	g.own(t)

	text, err := json.Marshal(g)
	g.must(t, err)
	g.must(t, os.WriteFile(g.work("ground.json"), text, 0o600))
	return g
}

func (g *ground) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repository makes Work a Git repository with one commit and a worktree.
func (g *ground) repository(t *testing.T) {
	t.Helper()
	g.must(t, os.WriteFile(g.work(".gitignore"), []byte("*\n!README\n!.gitignore\n"), 0o600))
	// What Git is told to run says so by making a file.
	g.must(t, os.WriteFile(g.work("evil"), []byte("#!/bin/sh\n: >"+g.work("pwned")+"\n"), 0o700))
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "first"},
		{"worktree", "add", "-q", g.home("tree")},
	} {
		cmd := exec.Command("git", append([]string{"-C", g.Work}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// listen opens what the host listens on.
func (g *ground) listen(t *testing.T) {
	t.Helper()
	g.TCP4, g.TCP6 = serve(t, "tcp4", "127.0.0.1:0"), serve(t, "tcp6", "[::1]:0")
	addrs, err := net.InterfaceAddrs()
	g.must(t, err)
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil && g.LAN == "" {
			g.LAN = serve(t, "tcp4", net.JoinHostPort(n.IP.String(), "0"))
		}
	}
	if g.TCP4 == "" || serve(t, "unix", g.home("agent")) == "" || serve(t, "unix", g.work("agent")) == "" {
		t.Fatal("the host cannot listen")
	}
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	g.must(t, err)
	t.Cleanup(func() { udp.Close() })
	go echo(udp)
	g.UDP4 = udp.LocalAddr().String()
	g.Datagram = g.home("datagram")
	datagram, err := net.ListenPacket("unixgram", g.Datagram)
	g.must(t, err)
	t.Cleanup(func() { datagram.Close() })
}

// serve greets whoever connects, and returns its address, or "" if there can be
// none.
func serve(t *testing.T, network, addr string) string {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		return ""
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("ahoy\n"))
			c.Close()
		}
	}()
	return l.Addr().String()
}

func echo(c net.PacketConn) {
	buf := make([]byte, 64)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		c.WriteTo(buf[:n], from)
	}
}

// start starts the process outside, and opens the descriptor.
func (g *ground) start(t *testing.T) {
	t.Helper()
	secret, err := os.Open(g.home(".ssh/id"))
	g.must(t, err)
	defer secret.Close()
	cmd := exec.Command(g.Probe, "linger")
	cmd.Env = []string{secretName + "=" + g.Secret, "GORACE=atexit_sleep_ms=0"}
	cmd.ExtraFiles = []*os.File{secret}
	out, err := cmd.StdoutPipe()
	g.must(t, err)
	g.must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	// Its environment is its own once it says something.
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	g.Process = cmd.Process.Pid
	// As a careless parent leaves it: it passes every exec.
	g.Descriptor, err = unix.FcntlInt(secret.Fd(), unix.F_DUPFD, 200)
	g.must(t, err)
	t.Cleanup(func() { unix.Close(g.Descriptor) })
}

// alive reports an error if the process outside is gone.
func (g *ground) alive() error {
	var status unix.WaitStatus
	if pid, err := unix.Wait4(g.Process, &status, unix.WNOHANG|unix.WUNTRACED, nil); pid != 0 || err != nil {
		return fmt.Errorf("the process outside was hit: %v %v", status, err)
	}
	return nil
}

// absent returns an error for each of the files that is there.
func absent(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			errs = append(errs, fmt.Errorf("%s is there", path))
		}
	}
	return errors.Join(errs...)
}

func loadGround(path string) (*ground, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := new(ground)
	return g, json.NewDecoder(strings.NewReader(string(text))).Decode(g)
}
