package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"deckhand/gateway/admin"
	"deckhand/gateway/command"
	"deckhand/gateway/control"
	"deckhand/gateway/executor"
	"deckhand/gateway/ledger"
	"deckhand/gateway/link"
	"deckhand/gateway/protected"
	"deckhand/gateway/runner"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/gateway/worktree"
)

// endGrace is how long requests under way may take at the end.
const endGrace = 10 * time.Second

// notConnected is what the connector's listener answers until a way is set up.
const notConnected = "ChatGPT is not connected yet; this listener admits nobody."

// Gateway is a gateway that has its ledger and its ports. Run serves it.
type Gateway struct {
	cfg     Config
	started time.Time
	ready   *readiness
	engine  *session.Engine
	control *control.Server
	token   *localToken
	servers []service
	local   net.Listener
	connect net.Listener

	quit     chan struct{} // closed by Quit
	quitOnce sync.Once
}

// service is one listener and what is served on it until its context ends.
type service struct {
	name     string
	listener net.Listener
	serve    func(context.Context, net.Listener) error
}

// RunningError says that another gateway has the state directory.
type RunningError struct {
	// Status is what the other one says of itself; zero if it does not answer.
	Status admin.Status
}

func (e *RunningError) Error() string {
	if e.Status.PID == 0 {
		return "another Deckhand uses this state directory and does not answer; deckhand doctor says more"
	}
	return fmt.Sprintf("Deckhand is already running: process %d, http://%s%s", e.Status.PID, e.Status.LocalAddress, control.Path)
}

// New takes the ledger and the ports and settles what the last gateway left.
// It returns a *RunningError if another gateway is here. Run or Close must
// follow.
func New(ctx context.Context, cfg Config) (*Gateway, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, started: time.Now().UTC(), ready: newReadiness(cfg), quit: make(chan struct{})}
	if err := g.build(ctx, placesOf(cfg.StateDir)); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Gateway) build(ctx context.Context, p places) error {
	if err := p.make(); err != nil {
		return err
	}
	paths, err := g.cfg.Protected()
	if err != nil {
		return err
	}
	if g.engine, err = g.newEngine(ctx, p, paths); err != nil {
		return g.explainInUse(ctx, err)
	}
	if g.control, err = control.New(control.Config{
		Engine: g.engine, Version: g.cfg.Version, MaxWait: g.cfg.MaxWait, RefuseDiscover: g.cfg.RefuseDiscover, Log: g.cfg.Log,
	}); err != nil {
		return err
	}
	return g.listen(p)
}

func (g *Gateway) newEngine(ctx context.Context, p places, paths *protected.Paths) (*session.Engine, error) {
	commands, err := command.New(command.Config{
		Self: g.cfg.Self, Home: g.cfg.Home, Environ: g.cfg.Environ, Cache: g.cfg.CacheDir, Protected: paths, Launcher: g.ready.launcher, Log: g.cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	tools, err := executor.New(executor.Config{Protected: paths, Commands: commands})
	if err != nil {
		return nil, err
	}
	trees, err := worktree.New(ctx, worktree.Config{Scratch: p.git(), Home: g.cfg.Home, Protected: paths})
	if err != nil {
		// Without git everything but worktrees works; a session that wants one
		// hears why it cannot have it.
		g.cfg.Log.Warn("no worktrees", "err", err)
	}
	return session.New(ctx, session.Config{
		OpenLedger: func(onCommit func(turn.SessionID)) (*ledger.Ledger, error) {
			return ledger.Open(ledger.Options{Dir: p.ledger(), Key: p.key(), OnCommit: onCommit})
		},
		Key: p.key(),
		Runner: runner.New(runner.Config{
			Runs: p.runs(), Homes: p.homes(), Socket: p.shimSocket(), Self: g.cfg.Self, Bubblewrap: g.cfg.Bubblewrap,
			ExtraEnv: g.cfg.ClaudeEnv, ShortWaits: g.cfg.ShortWaits, Log: g.cfg.Log,
		}),
		Executor:       tools,
		FindClaude:     g.ready.claude,
		Worktrees:      trees,
		WorktreeRoot:   g.cfg.WorktreeRoot,
		Policies:       g.cfg.Approvals,
		CheckDirectory: checkDirectory(paths),
		Retention:      g.cfg.Retention,
		Caches:         g.cfg.CacheDir,
		Limits:         session.Limits{LeaseFor: g.cfg.LeaseDuration, MaxLive: g.cfg.MaxLive, TurnBudget: g.cfg.TurnBudget},
		Log:            g.cfg.Log,
	})
}

// explainInUse names the gateway that has the ledger, as far as it answers.
func (g *Gateway) explainInUse(ctx context.Context, err error) error {
	if !errors.Is(err, ledger.ErrInUse) {
		return err
	}
	running := &RunningError{}
	if client, clientErr := admin.NewClient(g.cfg.StateDir); clientErr == nil {
		if status, statusErr := client.Status(ctx); statusErr == nil {
			running.Status = status
		}
	}
	return running
}

// listen binds every listener, so that a port that is taken is known before
// anything is served.
func (g *Gateway) listen(p places) error {
	var err error
	if g.local, err = listenLoopback(g.cfg.LocalAddr); err != nil {
		return err
	}
	g.token = &localToken{file: admin.SecretFile(p.localToken()), server: g.control, hosts: control.LoopbackHosts(portOf(g.local))}
	if err := g.token.load(); err != nil {
		return err
	}
	g.add("local listener", g.local, serveHTTP(g.token))
	if g.connect, err = listenLoopback(g.cfg.ConnectorAddr); err != nil {
		return err
	}
	g.add("connector listener", g.connect, serveHTTP(g.control.Handler(control.Listener{
		Hosts:      append(control.LoopbackHosts(portOf(g.connect)), g.cfg.PublicHosts...),
		Credential: control.Closed(notConnected),
	})))
	shims, err := link.Listen(p.shimSocket())
	if err != nil {
		return err
	}
	g.add("shim socket", shims, serveHTTP(link.Handler(g.engine, g.cfg.Log)))
	secret, err := admin.TokenPath(g.cfg.StateDir).LoadOrCreate()
	if err != nil {
		return err
	}
	adminServer, err := admin.NewServer(g.engine, g, secret, g.cfg.Log)
	if err != nil {
		return err
	}
	socket, err := admin.Listen(g.cfg.StateDir)
	if err != nil {
		return err
	}
	g.add("admin socket", socket, adminServer.Serve)
	return nil
}

func (g *Gateway) add(name string, l net.Listener, serve func(context.Context, net.Listener) error) {
	g.servers = append(g.servers, service{name: name, listener: l, serve: serve})
}

// Run serves until ctx ends or a listener fails, and returns when everything
// it started has ended.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, len(g.servers))
	for _, s := range g.servers {
		go func() {
			err := s.serve(ctx, s.listener)
			if err != nil {
				err = fmt.Errorf("%s: %w", s.name, err)
				cancel(err)
			}
			ended <- err
		}()
	}
	// The first test of the sandbox runs now, so that the first session does
	// not wait for it.
	tested := make(chan struct{})
	go func() {
		defer close(tested)
		if err := g.ready.confines(ctx); err != nil && ctx.Err() == nil {
			g.cfg.Log.Error("the sandbox is not usable", "err", err)
		}
	}()
	awake := make(chan struct{})
	go func() {
		defer close(awake)
		g.stayAwake(ctx)
	}()
	select {
	case <-ctx.Done():
	case <-g.quit:
		cancel(nil)
	}
	g.engine.EndWaits()
	var failed error
	for range g.servers {
		failed = errors.Join(failed, <-ended)
	}
	<-tested
	<-awake
	g.servers = nil
	return errors.Join(failed, g.Close())
}

// Close lets go of a gateway that Run is not serving. It may be called twice.
func (g *Gateway) Close() error {
	var err error
	for _, s := range g.servers {
		err = errors.Join(err, s.listener.Close())
	}
	g.servers = nil
	if g.engine != nil {
		err = errors.Join(err, g.engine.Close())
		g.engine = nil
	}
	return err
}

// LocalAddr and ConnectorAddr are the host:port of the two listeners.
func (g *Gateway) LocalAddr() string { return g.local.Addr().String() }

// ConnectorAddr is the host:port of the connector's listener.
func (g *Gateway) ConnectorAddr() string { return g.connect.Addr().String() }

// LocalToken is the bearer token of the local listener.
func (g *Gateway) LocalToken() string { return g.token.get() }

// RotateLocalToken replaces the token; the old one stops working at once.
func (g *Gateway) RotateLocalToken() (string, error) { return g.token.rotate() }

// Greet tells the app that another start wants it to be noticed; it reports
// false if nobody asked to be told.
func (g *Gateway) Greet() bool {
	if g.cfg.OnGreet == nil {
		return false
	}
	g.cfg.OnGreet()
	return true
}

// Quit ends Run in good order.
func (g *Gateway) Quit() { g.quitOnce.Do(func() { close(g.quit) }) }

// Status is what the gateway says of itself to a person.
func (g *Gateway) Status(ctx context.Context) (admin.Status, error) {
	// Before what it is about: an event that comes meanwhile is seen once more.
	last, err := g.engine.LastEvent()
	if err != nil {
		return admin.Status{}, err
	}
	switches, err := g.engine.Switches(ctx)
	if err != nil {
		return admin.Status{}, err
	}
	claude, box, warnings := g.ready.report(ctx)
	return admin.Status{
		Version: g.cfg.Version, PID: os.Getpid(), StartedAt: g.started, StateDir: g.cfg.StateDir,
		LocalAddress: g.LocalAddr(), ConnectorAddress: g.ConnectorAddr(), Connector: "none",
		Claude: claude, Sandbox: box, Switches: switches, LastEvent: last, Warnings: warnings, LastRequestAt: g.control.LastChatGPTRequest(),
	}, nil
}

// serveHTTP serves a handler until the context ends, then lets requests under
// way finish for endGrace.
func serveHTTP(h http.Handler) func(context.Context, net.Listener) error {
	return func(ctx context.Context, l net.Listener) error {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
		stopped := make(chan error, 1)
		go func() {
			<-ctx.Done()
			grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
			defer cancel()
			err := s.Shutdown(grace)
			if err != nil {
				err = errors.Join(err, s.Close())
			}
			stopped <- err
		}()
		err := s.Serve(l)
		if !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return <-stopped
	}
}

// listenLoopback refuses any address that others could reach.
func listenLoopback(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen on %q: the host has to be a loopback address such as 127.0.0.1", addr)
	}
	return net.Listen("tcp", addr)
}

func portOf(l net.Listener) int {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return n
}
