package control

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Credential decides who may use a listener. The set is closed: a listener
// cannot be opened by a value from outside this package.
type Credential interface {
	// admit returns "" or the challenge of the refusal and what to tell.
	admit(*http.Request) (challenge, reason string)
}

const realm = `Bearer realm="deckhand"`

// StaticBearer admits whoever presents the bearer token that has this SHA-256.
func StaticBearer(hash [sha256.Size]byte) Credential { return staticBearer{hash} }

type staticBearer struct{ hash [sha256.Size]byte }

func (b staticBearer) admit(r *http.Request) (challenge, reason string) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return realm, "This listener needs the local token as a bearer token."
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	// Hashing first makes the comparison independent of what the token shares
	// with the right one, and of its length.
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], b.hash[:]) != 1 {
		return realm + `, error="invalid_token"`, "The bearer token is not the local token."
	}
	return "", ""
}

// Closed admits nobody and says why: it is the connector's credential while no
// way is connected.
func Closed(reason string) Credential { return closed{reason} }

type closed struct{ reason string }

func (c closed) admit(*http.Request) (challenge, reason string) { return realm, c.reason }

// authenticate answers 401 with a challenge, also to an empty POST and to a
// GET, and leaves the body unread.
func authenticate(c Credential, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if challenge, reason := c.admit(r); challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
			writeHTTPError(w, http.StatusUnauthorized, "unauthorized", reason)
			return
		}
		next.ServeHTTP(w, r)
	})
}
