package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"deckhand/gateway/atomicfile"
)

// maxInline is the largest body, in bytes, that stands in its record.
const maxInline = 2 << 10

// Body is a text or a file's content of any size by its hash: in the record if
// it is small and UTF-8, else in a file of its own. Its zero value is empty.
type Body struct {
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Inline string `json:"inline,omitempty"`
}

// Stored reports whether the body is a file.
func (b Body) Stored() bool { return b.Bytes > 0 && b.Inline == "" }

// Digest returns the SHA-256 of the text in hex, also for an empty one.
func (b Body) Digest() string {
	if b.SHA256 == "" {
		return digest("")
	}
	return b.SHA256
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// putBody makes text durable, so that a transaction may name it afterwards.
func (l *Ledger) putBody(text string) (Body, error) {
	if text == "" {
		return Body{}, nil
	}
	b := Body{SHA256: digest(text), Bytes: int64(len(text))}
	if len(text) <= maxInline && utf8.ValidString(text) {
		b.Inline = text
		return b, nil
	}
	path := l.bodyPath(b)
	if info, err := os.Stat(path); err == nil && info.Size() == b.Bytes {
		// Whoever wrote it may have been stopped before the folder was synced.
		return b, atomicfile.SyncDir(l.bodies)
	}
	if err := atomicfile.WriteFile(path, []byte(text), 0o600); err != nil {
		return Body{}, fmt.Errorf("store body: %w", err)
	}
	return b, nil
}

// Text returns the text of a body. A file that is missing, or that does not
// have the hash of its name, is an error.
func (l *Ledger) Text(b Body) (string, error) {
	if !b.Stored() {
		return b.Inline, nil
	}
	data, err := os.ReadFile(l.bodyPath(b))
	if err != nil {
		return "", fmt.Errorf("read body: %w", err)
	}
	if got := digest(string(data)); got != b.SHA256 {
		return "", fmt.Errorf("read body %s: the file has the hash %s", b.SHA256, got)
	}
	return string(data), nil
}

// isBodyName reports whether a name is one that putBody, or the temporary file
// of it, could have made; anything else is not ours to remove.
func isBodyName(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == sha256.Size*2 || strings.HasPrefix(name, ".")
}

func (l *Ledger) bodyPath(b Body) string { return filepath.Join(l.bodies, b.SHA256) }

// Sweep removes body files that no record names: what a crash between writing
// a body and naming it left. It returns how many. Call it before the first
// verb; a body that a verb is about to name would be lost otherwise.
func (l *Ledger) Sweep() (int, error) {
	named, err := l.namedBodies()
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(l.bodies)
	if err != nil {
		return 0, fmt.Errorf("list bodies: %w", err)
	}
	removed := 0
	for _, e := range entries {
		if named[e.Name()] || !isBodyName(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(l.bodies, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("remove body: %w", err)
		}
		removed++
	}
	return removed, nil
}
