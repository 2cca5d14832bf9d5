package admin

import (
	"context"
	"net"
	"path/filepath"
)

// SocketPath is where the gateway of a state directory listens.
func SocketPath(stateDir string) string { return filepath.Join(stateDir, "private", "admin.sock") }

// TokenPath is where the token for the socket lies.
func TokenPath(stateDir string) SecretFile {
	return SecretFile(filepath.Join(stateDir, "private", "admin-token"))
}

// Listen opens the socket of a state directory, whose folder "private" must
// exist.
func Listen(stateDir string) (net.Listener, error) {
	return net.Listen("unix", SocketPath(stateDir))
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}
