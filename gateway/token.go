package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/control"
)

// localToken is the static token of the local listener, and the handler that
// demands it. A rotation swaps the handler, so that the old token stops
// working with the next request.
type localToken struct {
	path    string
	server  *control.Server
	hosts   []string
	handler atomic.Pointer[http.Handler]

	mu    sync.Mutex
	value string // guarded by mu
}

// load reads the token, making one if there is none.
func (t *localToken) load() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t.storeLocked(newToken())
	}
	if err != nil {
		return fmt.Errorf("read the local token: %w", err)
	}
	value := strings.TrimSpace(string(data))
	info, err := os.Stat(t.path)
	if err != nil {
		return fmt.Errorf("read the local token: %w", err)
	}
	if len(value) < len(newToken()) || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the local token in %s is cut short or open to others; remove the file and Deckhand makes a new one", t.path)
	}
	t.useLocked(value)
	return nil
}

func (t *localToken) storeLocked(value string) error {
	if err := atomicfile.WriteFile(t.path, []byte(value+"\n"), 0o600); err != nil {
		return fmt.Errorf("store the local token: %w", err)
	}
	t.useLocked(value)
	return nil
}

func (t *localToken) useLocked(value string) {
	t.value = value
	h := t.server.Handler(control.Listener{Hosts: t.hosts, Credential: control.StaticBearer(sha256.Sum256([]byte(value)))})
	t.handler.Store(&h)
}

func (t *localToken) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value
}

func (t *localToken) rotate() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value := newToken()
	return value, t.storeLocked(value)
}

func (t *localToken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*t.handler.Load()).ServeHTTP(w, r)
}

func newToken() string { return "dkh_" + rand.Text() + rand.Text() }
