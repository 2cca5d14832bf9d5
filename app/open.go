package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"deckhand/gateway"
	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// source answers questions about sessions: the running gateway, or the ledger
// of one that does not run.
type source interface {
	List(ctx context.Context) ([]session.Summary, error)
	Inspect(ctx context.Context, id turn.SessionID) (session.Snapshot, error)
	RecoveryToken(ctx context.Context, id turn.SessionID) (string, error)
	Waiting(ctx context.Context) ([]session.Waiting, error)
	Actions(ctx context.Context, id turn.SessionID) ([]session.Action, error)
	Writes(ctx context.Context, id turn.SessionID) ([]session.Write, error)
	Trusts(ctx context.Context) ([]session.Trust, error)
	Events(ctx context.Context, after uint64, id turn.SessionID, limit int) ([]turn.Event, error)
}

var (
	_ source = (*admin.Client)(nil)
	_ source = (*session.Reader)(nil)
)

// view is an open source.
type view struct {
	source
	// live is the running gateway, nil if there is none, and status what it
	// said of itself.
	live   *admin.Client
	status admin.Status
	close  func() error
}

// open finds what answers questions about the sessions of the state directory:
// the running gateway, else the ledger, which it then opens read-only.
func (a *app) open(ctx context.Context, s Settings) (*view, error) {
	switch err := checkState(s.StateDir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noState(s)
	case err != nil:
		return nil, err
	}
	client, status, err := a.dial(ctx, s)
	if err == nil {
		a.compare(status)
		return &view{source: client, live: client, status: status, close: func() error { return nil }}, nil
	}
	if !errors.Is(err, admin.ErrNotRunning) {
		return nil, err
	}
	reader, err := gateway.OpenReader(s.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noState(s)
	}
	if err != nil {
		return nil, err
	}
	return &view{source: reader, close: reader.Close}, nil
}

// dial returns a client of the running gateway and what that says of itself.
func (a *app) dial(ctx context.Context, s Settings) (*admin.Client, admin.Status, error) {
	client, err := admin.NewClient(s.StateDir)
	if err != nil {
		return nil, admin.Status{}, err
	}
	status, err := client.Status(ctx)
	return client, status, err
}

// compare tells if the gateway was started by another version of the program.
func (a *app) compare(status admin.Status) {
	if v := version(); status.Version != v {
		a.notef("note: the running gateway is %s, this command is %s; restart the gateway to use the new one\n",
			printable(status.Version), v)
	}
}

func noState(s Settings) error {
	return withHint(&turn.Refusal{Code: turn.UnknownSession, Detail: "no gateway has run with the state directory " + s.StateDir},
		"start one with: deckhand serve")
}

// withView loads the settings, opens the source and runs f.
func (a *app) withView(cmd *cobra.Command, f func(context.Context, *view) error) error {
	s, err := a.load(cmd)
	if err != nil {
		return err
	}
	v, err := a.open(cmd.Context(), s)
	if err != nil {
		return err
	}
	return errors.Join(f(cmd.Context(), v), v.close())
}
