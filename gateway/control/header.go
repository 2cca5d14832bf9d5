package control

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// fillHeaders adds the headers that protocol version 2026-07-28 demands and
// that a tunnel may have dropped, from the body. What is there is left as it
// is: mcp-go refuses a header that contradicts the body.
func fillHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := exchangeFrom(r.Context()).message
		fill := func(name, value string) {
			if value != "" && len(r.Header.Values(name)) == 0 {
				r.Header.Set(name, value)
			}
		}
		fill("Content-Type", "application/json")
		if m.modern() {
			fill(mcp.HeaderProtocolVersion, m.meta.protocolVersion)
			fill(mcp.HeaderMethod, m.method)
			fill(mcp.HeaderName, m.tool)
		} else if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !mcp.IsValidProtocolVersion(v) && m.method != methodInitialize {
			// mcp-go would say so in plain text.
			writeRPCError(w, http.StatusBadRequest, m.id, codeInvalidRequest, "the MCP-Protocol-Version header names no version that this server speaks")
			return
		}
		next.ServeHTTP(w, r)
	})
}
