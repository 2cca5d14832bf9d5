package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"deckhand/gateway/atomicfile"
)

// maxSecret bounds what is read from a secret file, in bytes.
const maxSecret = 4096

// Secret is a token. It prints as "[redacted]"; Reveal gives it away.
type Secret struct{ value string }

// NewSecret makes a secret of a value that is already known.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the token itself, for the one place that needs it.
func (s Secret) Reveal() string { return s.value }

// Equal compares in constant time. An empty secret equals nothing.
func (s Secret) Equal(candidate string) bool {
	if s.value == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(s.value)), sha256.Sum256([]byte(candidate))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (Secret) String() string       { return "[redacted]" }
func (Secret) GoString() string     { return "[redacted]" }
func (Secret) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// MarshalJSON keeps a secret out of anything that is encoded by accident.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// SecretFile is the path of a file that holds one token and a newline, 0600.
type SecretFile string

// Read returns the token. It refuses a file that is not ours alone: a symlink,
// another owner, or a mode that lets others in. The error is fs.ErrNotExist if
// there is none.
func (f SecretFile) Read() (Secret, error) {
	file, err := os.OpenFile(string(f), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Secret{}, fmt.Errorf("read token file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Secret{}, fmt.Errorf("read token file: %w", err)
	}
	if err := private(info); err != nil {
		return Secret{}, fmt.Errorf("read token file %s: %w", f, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSecret))
	if err != nil {
		return Secret{}, fmt.Errorf("read token file: %w", err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return Secret{}, fmt.Errorf("read token file %s: it is empty; remove it to have a new one made", f)
	}
	return Secret{value}, nil
}

// private reports why a file cannot hold a secret.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others can open it (mode %04o); run chmod 600 on it", mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}

// LoadOrCreate returns the token of the file and makes it if there is none.
func (f SecretFile) LoadOrCreate() (Secret, error) {
	s, err := f.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return f.Rotate()
	}
	return s, err
}

// Rotate puts a new random token of 130 bits in the file's place. Readers see
// the old or the new one, never a part.
func (f SecretFile) Rotate() (Secret, error) {
	s := Secret{strings.ToLower(rand.Text())}
	if err := atomicfile.WriteFile(string(f), []byte(s.value+"\n"), 0o600); err != nil {
		return Secret{}, fmt.Errorf("make token file: %w", err)
	}
	return s, nil
}
