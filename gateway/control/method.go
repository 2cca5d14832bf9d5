package control

import "net/http"

// onlyPost refuses every other method: there is no stream to GET and no MCP
// session to DELETE.
func onlyPost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			writeHTTPError(w, http.StatusMethodNotAllowed, "method_not_allowed", "This endpoint answers POST only.")
			return
		}
		next.ServeHTTP(w, r)
	})
}
