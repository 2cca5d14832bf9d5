package sandboxtest

import (
	"errors"
	"net"
	"syscall"
	"time"
)

var network = []attempt{
	{id: "N01", what: "a listener of the host", want: refused, try: func(g *ground) error { return hear("tcp", g.TCP4) }},
	{id: "N01a", what: "the same by its name", want: anyhow, try: func(g *ground) error {
		_, port, err := net.SplitHostPort(g.TCP4)
		if err != nil {
			return err
		}
		return hear("tcp4", net.JoinHostPort("localhost", port))
	}},
	{id: "N01b", what: "the same as 0.0.0.0", want: anyhow, try: func(g *ground) error {
		_, port, err := net.SplitHostPort(g.TCP4)
		if err != nil {
			return err
		}
		return hear("tcp4", net.JoinHostPort("0.0.0.0", port))
	}},
	{id: "N02", what: "a listener of the host on ::1", want: refused, free: maybe, why: "not every machine has IPv6", try: func(g *ground) error {
		if g.TCP6 == "" {
			return syscall.ECONNREFUSED
		}
		return hear("tcp", g.TCP6)
	}},
	{id: "N03", what: "an address of the host", want: noRoute, free: maybe, why: "not every machine has another address", try: func(g *ground) error {
		if g.LAN == "" {
			return hear("tcp", "192.0.2.1:9")
		}
		return hear("tcp", g.LAN)
	}},
	{id: "N04", what: "an answer by UDP", want: refused, try: func(g *ground) error { return ask("udp", g.UDP4) }},
	{id: "N05", what: "UDP to the network", want: noRoute, free: maybe, why: "not every machine has a network",
		try: func(*ground) error { return send("udp", "192.0.2.1:9") }},
	{id: "N06", what: "a service's socket in the home", want: forbidden, try: func(g *ground) error { return hear("unix", g.home("agent")) }},
	{id: "N07", what: "an agent's socket in the session's directory", want: forbidden, try: func(g *ground) error { return hear("unix", g.work("agent")) }},
	{id: "N09", what: "a datagram socket", want: forbidden, try: func(g *ground) error { return send("unixgram", g.Datagram) }},
	{id: "N25", what: "a name server", want: anyhow, free: maybe, why: "not every machine has a network",
		try: func(*ground) error { return send("udp", "192.0.2.53:53") }},
}

// hear connects and reads a greeting.
func hear(network, addr string) error {
	c, err := net.DialTimeout(network, addr, hangs/2)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(hangs / 2)); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 8))
	return err
}

// send sends a datagram that nobody has to take.
func send(network, addr string) error {
	c, err := net.Dial(network, addr)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("ahoy"))
	return errors.Join(err, c.Close())
}

// ask sends one and reads the answer.
func ask(network, addr string) error {
	c, err := net.Dial(network, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(hangs / 2)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("ahoy")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 8))
	return err
}
