package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"syscall"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/ledger"
	"deckhand/gateway/turn"
)

// Secret is the key from which recovery tokens and run tokens are derived, so
// that none is ever stored and a repeat of a lost answer can hold the same one.
type Secret struct{ key []byte }

const secretBytes = 32

// CreateSecret makes a key and stores it in path (0600). Whoever calls it holds
// the ledger's lock, so that two gateways never make two.
func CreateSecret(path string) (Secret, error) {
	key := make([]byte, secretBytes)
	rand.Read(key)
	if err := atomicfile.WriteFile(path, key, 0o600); err != nil {
		return Secret{}, fmt.Errorf("store the key of tokens: %w", err)
	}
	return Secret{key: key}, nil
}

// LoadSecret reads the key from path. A key that is a link, that belongs to or
// is readable by others, or that has another size, is an error.
func LoadSecret(path string) (Secret, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return Secret{}, fmt.Errorf("read the key of tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Secret{}, fmt.Errorf("read the key of tokens: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 || info.Size() != secretBytes {
		return Secret{}, fmt.Errorf("the key of tokens has %d bytes and mode %o; it must be this user's own, with %d bytes and mode 600",
			info.Size(), info.Mode().Perm(), secretBytes)
	}
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(f, key); err != nil {
		return Secret{}, fmt.Errorf("read the key of tokens: %w", err)
	}
	return Secret{key: key}, nil
}

// openSecret loads the key, or makes it for a ledger that is as new.
func openSecret(path string, l *ledger.Ledger) (Secret, error) {
	secret, err := LoadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	last, lastErr := l.LastEvent()
	if lastErr != nil {
		return Secret{}, lastErr
	}
	if last > 0 {
		return Secret{}, fmt.Errorf("%w; without it no session of this ledger can be taken over", err)
	}
	return CreateSecret(path)
}

// LogValue keeps the key out of every log.
func (Secret) LogValue() slog.Value { return slog.StringValue("redacted") }

// RecoveryToken is the token that belongs to an epoch of a session's lease.
func (s Secret) RecoveryToken(id turn.SessionID, epoch turn.Epoch) string {
	return "rcv_" + s.derive("recovery", string(id), uint64(epoch))
}

// RunToken is the token that a run's shim and its Claude Code show.
func (s Secret) RunToken(id turn.RunID) string { return "rtk_" + s.derive("run", string(id), 0) }

// IsRunToken compares in constant time.
func (s Secret) IsRunToken(id turn.RunID, token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.RunToken(id))) == 1
}

// tokenOf returns a test of whether token is the recovery token of an epoch.
func (s Secret) tokenOf(id turn.SessionID, token string) func(turn.Epoch) bool {
	return func(epoch turn.Epoch) bool {
		return subtle.ConstantTimeCompare([]byte(token), []byte(s.RecoveryToken(id, epoch))) == 1
	}
}

func (s Secret) derive(purpose, id string, n uint64) string {
	mac := hmac.New(sha256.New, s.key)
	// Parts are joined with a byte that none of them holds.
	mac.Write([]byte(purpose + "\x00" + id + "\x00"))
	mac.Write(binary.BigEndian.AppendUint64(nil, n))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
