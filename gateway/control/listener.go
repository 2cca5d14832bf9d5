package control

import (
	"net"
	"strconv"
)

// Path is where the control plane listens.
const Path = "/mcp"

// ChatGPTOrigin is allowed on every listener.
const ChatGPTOrigin = "https://chatgpt.com"

// Listener says who may come in through one handler.
type Listener struct {
	// Hosts are the exact values of the Host header that are served, without
	// regard to case: LoopbackHosts of the port, and the public name if there
	// is one. Empty serves nobody.
	Hosts []string
	// Origins are the values of the Origin header that are served besides
	// ChatGPT's, e.g. the public address. A request without one is served.
	Origins []string
	// Credential is required.
	Credential Credential
}

// LoopbackHosts lists the Host values of a listener on the loopback device.
func LoopbackHosts(port int) []string {
	p := strconv.Itoa(port)
	return []string{
		net.JoinHostPort("127.0.0.1", p),
		net.JoinHostPort("localhost", p),
		net.JoinHostPort("::1", p),
	}
}
