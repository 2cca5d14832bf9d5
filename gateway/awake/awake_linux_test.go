package awake

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logind is the part of logind that hands out inhibitors, on a bus of its own:
// each is the write end of a pipe, and who holds the other end sees it close.
type logind struct {
	held chan pipe
	what chan string
}

// pipe is an inhibitor as logind has it: both ends, until the answer is sent.
type pipe struct{ read, write *os.File }

func (l *logind) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	fd := dbus.UnixFD(w.Fd())
	l.held <- pipe{r, w}
	l.what <- what + " " + mode
	return fd, nil
}

// systemBus starts a bus that Keep takes for the system's.
func systemBus(t *testing.T) *dbus.Conn {
	t.Helper()
	address := "unix:path=" + filepath.Join(t.TempDir(), "bus")
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address="+address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("dbus-daemon is needed for this test: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestTheMachineIsHeldExactlyWhileItIsWanted(t *testing.T) {
	conn := systemBus(t)
	l := &logind{held: make(chan pipe, 4), what: make(chan string, 4)}
	if err := conn.Export(l, "/org/freedesktop/login1", "org.freedesktop.login1.Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.login1", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	want := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Keep(ctx, want, slog.New(slog.DiscardHandler))
	}()
	// sent lets go of logind's own end; the answer is with Keep by then.
	sent := func(p pipe) *os.File {
		p.write.Close()
		return p.read
	}
	closed := func(r *os.File) {
		t.Helper()
		if n, err := io.Copy(io.Discard, r); n != 0 || err != nil {
			t.Errorf("inhibitor: %d bytes, %v", n, err)
		}
		r.Close()
	}
	want <- true
	first := <-l.held
	if what := <-l.what; what != "idle block" {
		t.Errorf("asked for %q", what)
	}
	want <- true // held already
	one := sent(first)
	want <- false
	closed(one)
	want <- true
	second := <-l.held
	want <- true
	two := sent(second)
	if len(l.held) != 0 {
		t.Error("more was held than wanted")
	}
	cancel()
	<-ended
	closed(two)
}

func TestWithoutLogindItIsSaidOnce(t *testing.T) {
	systemBus(t)
	var log bytes.Buffer
	want := make(chan bool)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Keep(t.Context(), want, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	for range 3 {
		want <- true
	}
	want <- false
	close(want)
	<-ended
	if n := strings.Count(log.String(), "cannot be kept awake"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}
