// Package control is the MCP control plane: exactly six tools over Streamable
// HTTP at /mcp, in front of an Engine that owns all work.
//
// A request passes a chain of small handlers, in this order, each in a file of
// its own: observe (log and panics), host, origin, path, credential, method,
// body, allow (the JSON-RPC allow-list, over envelope), header, cancelled,
// forward, and then mcp-go, stateless, with plain JSON answers in both protocol
// eras (2025-11-25 and 2026-07-28).
//
// Contract:
//   - Nothing before the credential reads the body or tells what is behind it.
//   - mcp-go never sees a body as it came: forward rebuilds it from the parts
//     that were checked, and without the arguments of a call. Those travel
//     beside it, byte for byte, and are decoded once, strictly, by the schema
//     that tools/list shows.
//   - A call only waits on work that the Engine owns. When its connection goes,
//     nothing is lost; the same call again gives the same effect.
//   - What a model can act on is an isError result with a code of package turn;
//     errors.go maps each to words. Everything else is internal_error, with its
//     cause in the log only.
//   - Names, required inputs and field shapes of the six tools never change.
//     testdata/surface.golden.json holds them as served.
//   - The log holds method, tool, status, code, duration and client of a
//     request, never contents.
//
// Not covered: TLS, rate limits, read timeouts (the HTTP server's), OAuth (a
// Credential of its own), and the checks that need the session, which are the
// Engine's.
package control
