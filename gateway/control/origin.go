package control

import (
	"net/http"
	"slices"
)

// checkOrigin serves requests without an Origin, which no browser sends across
// sites, and those of ChatGPT and of the list.
func checkOrigin(origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, o := range r.Header.Values("Origin") {
			if o != ChatGPTOrigin && !slices.Contains(origins, o) {
				writeHTTPError(w, http.StatusForbidden, "origin_not_allowed",
					"This server does not answer requests of that web origin.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
