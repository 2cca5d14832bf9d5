package link

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deckhand/gateway/turn"
)

// socketDir is a private directory whose path is short enough for a socket.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deckhand-link-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// server is a gateway's end that can be taken away and brought back.
type server struct {
	t      *testing.T
	socket string
	http   *http.Server
	served sync.WaitGroup
}

func (s *server) up(h http.Handler) {
	s.t.Helper()
	l, err := Listen(s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	s.http = &http.Server{Handler: h}
	s.served.Go(func() { s.http.Serve(l) })
}

func (s *server) down() {
	s.http.Close()
	s.served.Wait()
}

func newClient(t *testing.T, socket string, hear func(Directive)) *Client {
	c := NewClient(ClientConfig{Socket: socket, Run: "run_1", Token: "secret", Directive: hear})
	t.Cleanup(c.Close)
	return c
}

func TestClientRepeatsTheSameBodyToWhateverGatewayIsThere(t *testing.T) {
	s := &server{t: t, socket: socketDir(t) + "/s"}
	var mu sync.Mutex
	var bodies []string
	var hellos, directives atomic.Int32
	asked := make(chan int, 10)
	backend := func(answer *Release) http.Handler {
		b := &scripted{
			hello: func(context.Context, Hello) (Directive, error) { hellos.Add(1); return Directive{}, nil },
			offer: func(ctx context.Context, _ Offer) (Release, error) {
				mu.Lock()
				n := len(bodies)
				mu.Unlock()
				asked <- n
				if answer != nil {
					return *answer, nil
				}
				<-ctx.Done()
				return Release{}, context.Cause(ctx)
			},
		}
		inner := Handler(b, slog.New(slog.DiscardHandler))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == offerPath {
				raw, _ := io.ReadAll(r.Body)
				mu.Lock()
				bodies = append(bodies, string(raw))
				mu.Unlock()
				r.Body = io.NopCloser(strings.NewReader(string(raw)))
			}
			inner.ServeHTTP(w, r)
		})
	}
	c := newClient(t, s.socket, func(Directive) { directives.Add(1) })
	type answer struct {
		r   Release
		err error
	}
	got := make(chan answer, 1)
	go func() { // before there is any gateway
		r, err := c.Offer(t.Context(), Offer{Run: "run_1", Digest: "d", Tail: TailPrompt})
		got <- answer{r, err}
	}()
	for range 2 {
		s.up(backend(nil))
		<-asked
		s.down()
	}
	s.up(backend(&Release{Turn: "trn_1", Text: "hello"}))
	a := <-got
	s.down()
	if a.err != nil || a.r.Text != "hello" {
		t.Fatalf("%+v %v", a.r, a.err)
	}
	if len(bodies) < 3 {
		t.Errorf("asked %d times", len(bodies))
	}
	for _, b := range bodies {
		if b != bodies[0] {
			t.Errorf("bodies differ: %s and %s", b, bodies[0])
		}
	}
	if n := hellos.Load(); n != 3 || directives.Load() != n {
		t.Errorf("%d hellos to 3 gateways, %d directives heard", n, directives.Load())
	}
}

func TestClientAsksAgainAfterNotYetAndAfterTrouble(t *testing.T) {
	s := &server{t: t, socket: socketDir(t) + "/s"}
	var calls atomic.Int32
	answers := []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"code":"shutting_down","message":""}`)
		},
		func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"text":"half`) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `no code`)
		},
		func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"text":"there","is_error":false,"added_later":1}`)
		},
	}
	s.up(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == helloPath {
			io.WriteString(w, `{}`)
			return
		}
		answers[calls.Add(1)-1](w, r)
	}))
	defer s.down()
	c := newClient(t, s.socket, func(Directive) {})
	got, err := c.Call(t.Context(), Call{Run: "run_1", ToolUseID: "toolu_1", Name: "Read", Arguments: []byte("{}")})
	if err != nil || got.Text != "there" || int(calls.Load()) != len(answers) {
		t.Errorf("%+v %v after %d calls", got, err, calls.Load())
	}
}

func TestRefusalEndsTheRepeating(t *testing.T) {
	s := &server{t: t, socket: socketDir(t) + "/s"}
	s.up(Handler(&scripted{hello: func(context.Context, Hello) (Directive, error) {
		return Directive{}, turn.Refuse(RunSettled, "")
	}}, slog.New(slog.DiscardHandler)))
	defer s.down()
	c := newClient(t, s.socket, func(Directive) { t.Error("a directive of a settled run") })
	err := c.Hello(t.Context())
	if !MustEnd(err) {
		t.Errorf("hello: %v", err)
	}
	// The refusal of the hello that precedes it is the refusal of any request.
	if _, err := c.Offer(t.Context(), Offer{Run: "run_1"}); !MustEnd(err) {
		t.Errorf("offer: %v", err)
	}
}

func TestClientEndsWithItsContext(t *testing.T) {
	cause := errors.New("the run is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := newClient(t, socketDir(t)+"/nobody", func(Directive) {})
	done := make(chan error)
	go func() {
		_, err := c.Watch(ctx, Directive{})
		done <- err
	}()
	cancel(cause)
	if err := <-done; err != cause {
		t.Errorf("%v", err)
	}
}

func TestSocketIsPrivate(t *testing.T) {
	dir := socketDir(t) + "/made"
	l, err := Listen(dir + "/s")
	if err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, dir + "/s": 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if _, err := Listen(dir + "/s"); !errors.Is(err, ErrInUse) {
		t.Errorf("a second listener: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir + "/s"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}

func TestListenRefusesWhatOthersCanReach(t *testing.T) {
	dir := socketDir(t)
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(dir + "/s"); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Errorf("an open directory: %v", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/s", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(dir + "/s"); err == nil {
		t.Error("a file was replaced")
	}
	if _, err := os.Stat(dir + "/s"); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	if _, err := Listen("relative/s"); err == nil {
		t.Error("a relative path")
	}
}

func TestDeadSocketIsReplacedAndALaterOneIsLeft(t *testing.T) {
	path := socketDir(t) + "/s"
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody takes the path over, as after a crash.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	first.Close()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatalf("the second socket is gone with the first: %v", err)
	}
	conn.Close()
}

func TestLongPathsMeetAtAShortOne(t *testing.T) {
	path := filepath.Join(socketDir(t), strings.Repeat("long/", 40), "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	// The short place stays for the next socket; an empty one is not needed.
	defer os.Remove(filepath.Dir(l.Addr().String()))
	defer l.Close()
	if name := l.Addr().String(); len(name) > maxSocketPath {
		t.Errorf("socket at %s", name)
	}
	accepted := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	if _, err := Dial(t.Context(), path+"x"); err == nil {
		t.Error("two long paths are one socket")
	}
}

func TestPeerIsKnownByItsUser(t *testing.T) {
	l, err := Listen(socketDir(t) + "/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	dialed, err := Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	conn := <-accepted
	defer conn.Close()
	for name, end := range map[string]net.Conn{"server": conn, "client": dialed} {
		if err := checkPeer(end, os.Geteuid()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := checkPeer(end, os.Geteuid()+1); err == nil {
			t.Errorf("%s takes another user's process", name)
		}
	}
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	if err := checkPeer(here, os.Geteuid()); err == nil {
		t.Error("a connection without a peer is taken")
	}
}
