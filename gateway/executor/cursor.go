package executor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"deckhand/gateway/turn"
)

// position is where a search goes on: at this path relative to its root (a
// folder's with a slash at the end), and in a file at this line.
type position struct {
	path string
	line int64
}

// cursorVersion is the first byte of a cursor: what follows is 8 bytes of a
// digest of what is searched, the line as a varint, and the path.
const cursorVersion = 1

// searchDigest stands for what a cursor belongs to.
func searchDigest(parts ...any) [8]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return [8]byte(sum[:8])
}

func (p position) cursor(digest [8]byte) string {
	b := append([]byte{cursorVersion}, digest[:]...)
	b = binary.AppendVarint(b, p.line)
	return base64.RawURLEncoding.EncodeToString(append(b, p.path...))
}

// parseCursor reads the cursor of an earlier answer to the same search; "" is
// the beginning.
func parseCursor(cursor string, digest [8]byte) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < 10 || b[0] != cursorVersion {
		return position{}, turn.Refuse(turn.CursorInvalid, "this is not a cursor of an earlier answer; copy it exactly, or leave it out to begin anew")
	}
	if [8]byte(b[1:9]) != digest {
		return position{}, turn.Refuse(turn.CursorInvalid, "the cursor belongs to a search with other arguments; repeat those, or leave the cursor out to begin anew")
	}
	line, n := binary.Varint(b[9:])
	if n <= 0 || line < 0 {
		return position{}, turn.Refuse(turn.CursorInvalid, "this is not a cursor of an earlier answer; copy it exactly, or leave it out to begin anew")
	}
	return position{path: string(b[9+n:]), line: line}, nil
}
