package control

import "net/http"

// dropCancelled accepts notifications/cancelled and does nothing: without MCP
// sessions a request id says nothing about who sent it, and one conversation
// could cancel the call of another. Work is ended with native_session_stop.
func dropCancelled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if exchangeFrom(r.Context()).message.method == "notifications/cancelled" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		next.ServeHTTP(w, r)
	})
}
