package main

import (
	"errors"
	"path/filepath"

	"deckhand/gateway/ledger"
	"deckhand/gateway/session"
)

// openReader opens the sessions of a gateway that does not run, read-only. The
// error is fs.ErrNotExist if none ever ran.
func openReader(stateDir string) (*session.Reader, error) {
	private := filepath.Join(stateDir, "private")
	l, err := ledger.Open(ledger.Options{Dir: filepath.Join(private, "ledger"), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	secret, err := session.LoadSecret(filepath.Join(private, "key"))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return session.NewReader(l, secret), nil
}
