package control

import (
	"net/http"
	"slices"
	"strings"
)

// checkHost serves only the names of the list, so that a web page cannot reach
// the listener by a name of its own that resolves to this machine.
func checkHost(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, r.Host) }) {
			writeHTTPError(w, http.StatusForbidden, "host_not_allowed",
				"This server does not answer under that Host name. The public name belongs into Deckhand's configuration.")
			return
		}
		next.ServeHTTP(w, r)
	})
}
