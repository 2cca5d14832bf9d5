package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"deckhand/gateway/link"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// Errors of a client, before any answer.
var (
	// ErrNotRunning: nothing listens on the socket of the state directory.
	ErrNotRunning = errors.New("no gateway is running")
	// ErrUnauthorized: the gateway does not know the token that was read from
	// the state directory.
	ErrUnauthorized = errors.New("the gateway refused the token of its own state directory")
	// ErrTooOld: the running gateway is of another version and lacks the call.
	ErrTooOld = errors.New("the running gateway does not know this call: it is of another version and has to be restarted")
)

// callTimeout bounds a call that does not wait for events.
const callTimeout = 60 * time.Second

// Client calls a running gateway. It keeps no connection between calls and
// needs no Close.
type Client struct {
	secret Secret
	http   *http.Client
}

// NewClient returns a client of the gateway of stateDir. The error wraps
// ErrNotRunning if no gateway ever ran there; whether one runs now only a call
// tells.
func NewClient(stateDir string) (*Client, error) {
	secret, err := TokenPath(stateDir).Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("open admin client: %w", err)
	}
	return &Client{secret: secret, http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return link.Dial(ctx, SocketPath(stateDir))
		},
	}}}, nil
}

// Status asks the gateway about itself.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, http.MethodGet, "/v1/status", nil)
}

// List returns all sessions, newest first.
func (c *Client) List(ctx context.Context) ([]session.Summary, error) {
	answer, err := call[sessionsAnswer](ctx, c, http.MethodGet, "/v1/sessions", nil)
	return answer.Sessions, err
}

// Inspect returns the state of a session without lease and recovery token.
func (c *Client) Inspect(ctx context.Context, id turn.SessionID) (session.Snapshot, error) {
	return call[session.Snapshot](ctx, c, http.MethodGet, sessionPath(id), nil)
}

// Actions lists the actions of a session's newest turns with their arguments.
func (c *Client) Actions(ctx context.Context, id turn.SessionID) ([]session.Action, error) {
	answer, err := call[actionsAnswer](ctx, c, http.MethodGet, sessionPath(id)+"/actions", nil)
	return answer.Actions, err
}

// Stop ends the session's run.
func (c *Client) Stop(ctx context.Context, id turn.SessionID, reason string) (session.Snapshot, error) {
	return call[session.Snapshot](ctx, c, http.MethodPost, sessionPath(id)+"/stop", stopRequest{Reason: reason})
}

// RecoveryToken returns the token that a new chat takes the session over with.
func (c *Client) RecoveryToken(ctx context.Context, id turn.SessionID) (string, error) {
	answer, err := call[tokenAnswer](ctx, c, http.MethodPost, sessionPath(id)+"/recovery-token", nil)
	return answer.Token, err
}

// Token returns the static token of the local listener.
func (c *Client) Token(ctx context.Context) (string, error) {
	answer, err := call[tokenAnswer](ctx, c, http.MethodPost, "/v1/token", nil)
	return answer.Token, err
}

// RotateToken replaces the static token and returns the new one.
func (c *Client) RotateToken(ctx context.Context) (string, error) {
	answer, err := call[tokenAnswer](ctx, c, http.MethodPost, "/v1/token/rotate", nil)
	return answer.Token, err
}

// Greet brings the running app to the user's notice, and reports whether it has
// a menu.
func (c *Client) Greet(ctx context.Context) (bool, error) {
	answer, err := call[greetAnswer](ctx, c, http.MethodPost, "/v1/greet", nil)
	return answer.Noticed, err
}

// Quit ends the gateway in good order; runs go on. It returns before that is
// done: a call answers ErrNotRunning when it is.
func (c *Client) Quit(ctx context.Context) error {
	_, err := call[quitAnswer](ctx, c, http.MethodPost, "/v1/quit", nil)
	return err
}

// Events returns up to limit events above after, oldest first; limit is from 1
// to MaxEvents.
func (c *Client) Events(ctx context.Context, after uint64, id turn.SessionID, limit int) ([]turn.Event, error) {
	answer, err := call[eventsAnswer](ctx, c, http.MethodGet, eventsPath(after, id, limit, false), nil)
	return answer.Events, err
}

// NextEvents waits up to PollTimeout for events above after. next is the
// number to ask on from, also if there are none.
func (c *Client) NextEvents(ctx context.Context, after uint64, id turn.SessionID) (events []turn.Event, next uint64, err error) {
	answer, err := call[eventsAnswer](ctx, c, http.MethodGet, eventsPath(after, id, MaxEvents, true), nil)
	return answer.Events, answer.Next, err
}

func sessionPath(id turn.SessionID) string { return "/v1/sessions/" + url.PathEscape(string(id)) }

func eventsPath(after uint64, id turn.SessionID, limit int, wait bool) string {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(limit)}}
	if id != "" {
		q.Set("session", string(id))
	}
	if wait {
		q.Set("wait", "1")
	}
	return "/v1/events?" + q.Encode()
}

// call makes one quick call and decodes its answer.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	return callWithin[T](ctx, callTimeout, c, method, path, body)
}

// callWithin makes one call and decodes its answer. Fields that this build does
// not know are passed over: the gateway may be newer.
func callWithin[T any](ctx context.Context, timeout time.Duration, c *Client, method, path string, body any) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	res, err := c.do(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("read answer of the gateway: %w", err)
	}
	return answer, nil
}

// do makes one call and returns its answer, whose body the caller closes. What
// is not a success is an error.
func (c *Client) do(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode admin call: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, sent)
	if err != nil {
		return nil, fmt.Errorf("make admin call: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.secret.Reveal())
	res, err := c.http.Do(req)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNotRunning
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return nil, fmt.Errorf("%w: it ended during the call", ErrNotRunning)
	}
	if err != nil {
		return nil, fmt.Errorf("call gateway: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	var refused errorAnswer
	if err := json.NewDecoder(res.Body).Decode(&refused); err != nil || refused.Error.Code == "" {
		return nil, ErrTooOld
	}
	if refused.Error.Code == unauthorized {
		return nil, ErrUnauthorized
	}
	return nil, &turn.Refusal{Code: refused.Error.Code, Detail: refused.Error.Detail}
}
