package admin

import (
	"net"
	"path/filepath"

	"deckhand/gateway/link"
)

// SocketPath is where the gateway of a state directory listens.
func SocketPath(stateDir string) string { return filepath.Join(stateDir, "private", "admin.sock") }

// TokenPath is where the token for the socket lies.
func TokenPath(stateDir string) SecretFile {
	return SecretFile(filepath.Join(stateDir, "private", "admin-token"))
}

// Listen opens the socket of a state directory. It fails with link.ErrInUse if
// a gateway answers there.
func Listen(stateDir string) (net.Listener, error) { return link.Listen(SocketPath(stateDir)) }

// LocalTokenPath is where the static token of the local listener lies.
func LocalTokenPath(stateDir string) SecretFile {
	return SecretFile(filepath.Join(stateDir, "private", "local-token"))
}
