package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"deckhand/gateway/turn"
)

// How long a client waits before it asks again, from the first time on.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
)

// attemptLimit bounds one attempt: a server that does not answer within it is
// taken for gone.
const attemptLimit = PollTimeout + 15*time.Second

// ClientConfig is what a Client works with. Log may be nil.
type ClientConfig struct {
	// Socket is the path that the server gave to Listen.
	Socket string
	Run    turn.RunID
	Token  string
	// Directive is told what each Hello and Watch said. It may be called by
	// many goroutines.
	Directive func(Directive)
	Log       *slog.Logger
}

// Client is a shim's side. Its methods repeat one request until it is
// answered or ctx ends, however often the gateway goes away and comes back;
// the first request, and the first after the gateway was lost, is preceded by
// a Hello. They return a *turn.Refusal if the gateway refused, and the cause
// of ctx if it ended. Safe for use by many goroutines.
type Client struct {
	cfg  ClientConfig
	http *http.Client

	// turnstile holds one token; who has it may read and change the fields
	// below. It is a channel because saying hello takes time, and those who
	// wait for it must be able to give up.
	turnstile chan struct{}
	// A gateway is greeted once an epoch; losing it ends the epoch.
	greeted bool
	epoch   uint64
}

// NewClient makes a client. Close releases its connections.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, cfg.Socket) },
		// Offers, calls and the watch are open at once, and each long poll ends
		// with its connection free again.
		MaxIdleConnsPerHost: 32,
		DisableCompression:  true,
	}
	c := &Client{cfg: cfg, http: &http.Client{Transport: transport}, turnstile: make(chan struct{}, 1)}
	c.turnstile <- struct{}{}
	return c
}

// Close drops the idle connections. Requests under way end by their context.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Hello greets the gateway unless that has been done since it was last lost.
func (c *Client) Hello(ctx context.Context) error {
	_, err := repeat(ctx, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, nil })
	return err
}

// Watch returns the next directive that differs from seen.
func (c *Client) Watch(ctx context.Context, seen Directive) (Directive, error) {
	d, err := ask[Directive](ctx, c, watchPath, Watch{Run: c.cfg.Run, Seen: seen})
	if err == nil {
		c.cfg.Directive(d)
	}
	return d, err
}

// Offer asks for the answer to a model request.
func (c *Client) Offer(ctx context.Context, o Offer) (Release, error) {
	return ask[Release](ctx, c, offerPath, o)
}

// Call asks for the result of a tool call.
func (c *Client) Call(ctx context.Context, call Call) (CallResult, error) {
	return ask[CallResult](ctx, c, callPath, call)
}

// Exit tells how Claude Code ended.
func (c *Client) Exit(ctx context.Context, e Exit) error {
	_, err := ask[struct{}](ctx, c, exitPath, e)
	return err
}

// ask repeats one request until it is answered.
func ask[A any](ctx context.Context, c *Client, path string, request any) (A, error) {
	var none A
	body, err := encode(request)
	if err != nil {
		return none, err
	}
	return repeat(ctx, c, func(ctx context.Context) (A, error) { return attempt[A](ctx, c, path, body) })
}

// repeat greets the gateway where that is due and makes one attempt after the
// other. Not being answered yet is no failure and costs no delay.
func repeat[A any](ctx context.Context, c *Client, try func(context.Context) (A, error)) (A, error) {
	var none A
	delay := firstRetry
	for {
		epoch, err := c.greet(ctx)
		if err == nil {
			var a A
			if a, err = try(ctx); err == nil {
				return a, nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return none, context.Cause(ctx)
		case errors.Is(err, ErrNotYet):
			delay = firstRetry
			continue
		}
		if refusal, ok := errors.AsType[*turn.Refusal](err); ok && refusal.Code != turn.ShuttingDown {
			return none, refusal
		}
		c.lost(ctx, epoch, err)
		select {
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-time.After(delay):
		}
		delay = min(2*delay, lastRetry)
	}
}

// greet says hello unless that has been done since the gateway was lost.
func (c *Client) greet(ctx context.Context) (epoch uint64, err error) {
	select {
	case <-c.turnstile:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { c.turnstile <- struct{}{} }()
	if c.greeted {
		return c.epoch, nil
	}
	body, err := encode(Hello{Protocol: Version, Run: c.cfg.Run})
	if err != nil {
		return c.epoch, err
	}
	d, err := attempt[Directive](ctx, c, helloPath, body)
	if err != nil {
		return c.epoch, err
	}
	c.greeted = true
	c.cfg.Directive(d)
	return c.epoch, nil
}

// lost notes that the gateway greeted in epoch does not answer any more.
func (c *Client) lost(ctx context.Context, epoch uint64, err error) {
	select {
	case <-c.turnstile:
	case <-ctx.Done():
		return
	}
	defer func() { c.turnstile <- struct{}{} }()
	if !c.greeted || c.epoch != epoch {
		return
	}
	c.greeted = false
	c.epoch++
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the path of the socket
	}
	c.cfg.Log.Info("gateway does not answer", "err", err)
}

// attempt makes one request. It returns ErrNotYet, a *turn.Refusal, or an
// error that says that nobody answered.
func attempt[A any](ctx context.Context, c *Client, path string, body []byte) (A, error) {
	var a A
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway"+path, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	req.Header.Set(runHeader, string(c.cfg.Run))
	resp, err := c.http.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusOK:
		return a, decode(resp.Body, &a)
	case resp.StatusCode == http.StatusNoContent:
		return a, ErrNotYet
	case resp.StatusCode >= 500:
		io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
		return a, fmt.Errorf("gateway answers %s", resp.Status)
	}
	var refusal wireRefusal
	if err := decode(resp.Body, &refusal); err != nil || refusal.Code == "" {
		return a, fmt.Errorf("gateway answers %s without a code", resp.Status)
	}
	return a, &turn.Refusal{Code: refusal.Code, Detail: refusal.Message}
}
