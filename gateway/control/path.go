package control

import "net/http"

// onlyPath serves Path, with or without a slash at its end, and never
// redirects: some clients follow a redirect without their credential.
func onlyPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path && r.URL.Path != Path+"/" {
			writeHTTPError(w, http.StatusNotFound, "not_found", "The MCP endpoint of this server is "+Path+".")
			return
		}
		next.ServeHTTP(w, r)
	})
}
