// Package anthropic is the wire format of the Messages API, as far as one
// local client needs it: it decodes requests and encodes answers, as server
// sent events and as one JSON body.
//
// Contract:
//   - The package is pure: bytes in, bytes out.
//   - Decoding is tolerant where the format grows (unknown members, unknown
//     block types, roles other than user and assistant, content as a string or
//     as blocks) and strict where a mistake could change the meaning: invalid
//     UTF-8, a member that stands twice, a message without a role.
//   - A request that decodes keeps every top-level member byte for byte, so
//     that a caller can compare requests without knowing all of the format.
//   - Encoding the same answer twice gives the same bytes.
//
// Not covered: images, documents, thinking and server tools (they decode as
// Other), and everything that only a real model needs.
package anthropic
