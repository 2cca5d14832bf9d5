package control

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// MaxBody is the largest request body in bytes. The largest legal call is a
// start with eight skills.
const MaxBody = 4 << 20

// limitBody reads the body into the exchange, up to MaxBody.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if t := r.Header.Get("Content-Type"); t != "" {
			if media, _, err := mime.ParseMediaType(t); err != nil || media != "application/json" {
				writeRPCError(w, http.StatusUnsupportedMediaType, nil, codeInvalidRequest, "the body must be application/json")
				return
			}
		}
		tooLarge := func() {
			writeRPCError(w, http.StatusRequestEntityTooLarge, nil, codeInvalidRequest,
				fmt.Sprintf("the body is larger than %d bytes", MaxBody))
		}
		if r.ContentLength > MaxBody {
			tooLarge()
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			tooLarge()
			return
		}
		if err != nil {
			// The client is gone or broke the framing; it hears this at best.
			writeRPCError(w, http.StatusBadRequest, nil, codeParse, "the body could not be read to its end")
			return
		}
		exchangeFrom(r.Context()).body = body
		next.ServeHTTP(w, r)
	})
}
