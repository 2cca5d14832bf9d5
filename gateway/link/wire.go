package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/turn"
)

// maxBody bounds every request and answer, in bytes.
const maxBody = 16 << 20

// runHeader names the run that a request speaks for; its token comes as a
// bearer token.
const runHeader = "Deckhand-Run"

// The paths of the requests.
const (
	helloPath = "/link/hello"
	watchPath = "/link/watch"
	offerPath = "/link/offer"
	callPath  = "/link/call"
	exitPath  = "/link/exit"
)

// wireRefusal is a *turn.Refusal on the way. The cause stays where it is.
type wireRefusal struct {
	Code    turn.Code `json:"code"`
	Message string    `json:"message"`
}

// statuses of refusals whose code is about the link; others are a conflict.
var statuses = map[turn.Code]int{
	RunSettled:          http.StatusGone,
	Unauthorized:        http.StatusUnauthorized,
	UnsupportedProtocol: http.StatusUpgradeRequired,
	MalformedRequest:    http.StatusBadRequest,
	turn.TooLarge:       http.StatusRequestEntityTooLarge,
}

// decode reads one JSON value strictly: no repeated members, no invalid UTF-8,
// nothing after it, at most maxBody bytes. A server also rejects unknown
// members; a client must not, because a newer server may add some.
func decode(r io.Reader, into any, options ...jsonv2.Options) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return err
	}
	if len(raw) > maxBody {
		return errTooLarge
	}
	return jsonv2.Unmarshal(raw, into, options...)
}

var errTooLarge = errors.New("body over its limit")

func encode(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return raw, nil
}
