package gateway

import (
	"crypto/sha256"
	"net/http"
	"sync/atomic"

	"deckhand/gateway/admin"
	"deckhand/gateway/control"
)

// localToken is the static token of the local listener, and the handler that
// demands it. A rotation swaps both at once, so that the old token stops
// working with the next request.
type localToken struct {
	file    admin.SecretFile
	server  *control.Server
	hosts   []string
	current atomic.Pointer[admitted]
}

// admitted is a handler and the token it demands.
type admitted struct {
	secret  admin.Secret
	handler http.Handler
}

// load reads the token, making one if there is none.
func (t *localToken) load() error {
	secret, err := t.file.LoadOrCreate()
	if err != nil {
		return err
	}
	t.use(secret)
	return nil
}

func (t *localToken) use(secret admin.Secret) {
	hash := sha256.Sum256([]byte(secret.Reveal()))
	t.current.Store(&admitted{secret, t.server.Handler(control.Listener{Hosts: t.hosts, Credential: control.StaticBearer(hash)})})
}

func (t *localToken) get() string { return t.current.Load().secret.Reveal() }

// rotate makes and stores a new token.
func (t *localToken) rotate() (string, error) {
	secret, err := t.file.Rotate()
	if err != nil {
		return "", err
	}
	t.use(secret)
	return secret.Reveal(), nil
}

func (t *localToken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.current.Load().handler.ServeHTTP(w, r)
}
