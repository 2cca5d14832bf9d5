package gateway

import (
	"errors"

	"deckhand/gateway/ledger"
	"deckhand/gateway/session"
)

// OpenReader opens the sessions of a gateway that does not run, read-only. The
// error is fs.ErrNotExist if none ever ran in stateDir, and ledger.ErrInUse if
// one does now.
func OpenReader(stateDir string) (*session.Reader, error) {
	p := placesOf(stateDir)
	l, err := ledger.Open(ledger.Options{Dir: p.ledger(), Key: p.key(), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	secret, err := session.LoadSecret(p.key())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return session.NewReader(l, secret), nil
}
