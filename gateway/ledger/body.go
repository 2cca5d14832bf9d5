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

func digest[T string | []byte](text T) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// putBody makes text durable, so that a transaction may name it afterwards. The
// verb holds l.naming, shared, around both.
func (l *Ledger) putBody(text []byte) (Body, error) {
	if len(text) == 0 {
		return Body{}, nil
	}
	b := Body{SHA256: digest(text), Bytes: int64(len(text))}
	if len(text) <= maxInline && utf8.Valid(text) {
		b.Inline = string(text)
		return b, nil
	}
	path := l.bodyPath(b)
	l.mu.Lock()
	if l.stored != nil {
		l.stored[b.SHA256] = true
	}
	l.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.Size() == b.Bytes {
		// Whoever wrote it may have been stopped before the folder was synced.
		return b, atomicfile.SyncDir(l.bodies)
	}
	if err := atomicfile.WriteFile(path, text, 0o600); err != nil {
		return Body{}, noSpace(fmt.Errorf("store body: %w", err))
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
	if got := digest(data); got != b.SHA256 {
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

// Sweep removes body files that no record names: what a crash between writing a
// body and naming it left, and what records named that are gone or have
// forgotten it. It returns how many. Verbs may go on meanwhile, and no body that
// one of them stores or names is lost.
func (l *Ledger) Sweep() (int, error) {
	l.sweeping.Lock()
	defer l.sweeping.Unlock()
	found, err := l.beginSweep()
	if err != nil {
		return 0, err
	}
	defer l.endSweep()
	named, err := l.namedBodies()
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, e := range found {
		if named[e.Name()] || !isBodyName(e.Name()) {
			continue
		}
		gone, err := l.removeBody(e.Name())
		if err != nil {
			return removed, err
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// beginSweep lists the body files at a moment at which no verb has stored one
// without having named it: what is unnamed then, a temporary file too, is so for
// good unless it is stored again, which l.stored tells from then on.
func (l *Ledger) beginSweep() ([]fs.DirEntry, error) {
	l.naming.Lock()
	defer l.naming.Unlock()
	found, err := os.ReadDir(l.bodies)
	if err != nil {
		return nil, fmt.Errorf("list bodies: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = map[string]bool{}
	return found, nil
}

func (l *Ledger) endSweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = nil
}

// removeBody removes a file unless a verb has stored it again since the sweep
// began; one that stores it later finds it gone and writes it anew.
func (l *Ledger) removeBody(name string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stored[name] {
		return false, nil
	}
	if err := os.Remove(filepath.Join(l.bodies, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove body: %w", err)
	}
	return true, nil
}
