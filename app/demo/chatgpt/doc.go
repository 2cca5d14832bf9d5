// Package chatgpt plays web ChatGPT towards an MCP server: the demo and the
// end-to-end tests drive the gateway with it.
//
// It speaks Streamable HTTP as ChatGPT was seen to do: server/discover first,
// then traffic of 2026-07-28 without sessions, or, where the server does not
// speak that, initialize with 2025-11-25 and the notification after it. Every
// request carries the names that ChatGPT gives its conversation and its user.
//
// Contract:
//   - It knows the wire only. Answer is written from what the tools' output
//     schema promises, not from the gateway's own types, so that a renamed
//     field is a fault here as it would be in a conversation.
//   - It never repeats a request by itself. A caller that repeats gives the
//     same idempotency key, as the tools ask for.
//   - A Client may be used by several goroutines at once; a Session may not,
//     since a conversation says one thing at a time.
//
// Not covered: OAuth, tunnels and the brain. What to reply is the caller's.
package chatgpt
