package control

import (
	"encoding/json"
	"net/http"
)

// JSON-RPC error codes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// writeRPCError writes a JSON-RPC error; id is nil when it is not known.
func writeRPCError(w http.ResponseWriter, status int, id []byte, code int, text string) {
	if id == nil {
		id = []byte("null")
	}
	writeJSON(w, status, map[string]any{
		"jsonrpc": "2.0",
		"id":      json.RawMessage(id),
		"error":   map[string]any{"code": code, "message": text},
	})
}

// writeHTTPError writes a refusal that comes before JSON-RPC.
func writeHTTPError(w http.ResponseWriter, status int, code, text string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": code, "message": text}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values above always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client is gone.
	_, _ = w.Write(append(b, '\n'))
}
