package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// listening is an address of the host at which somebody answers.
func listening(t *testing.T, network, addr string) string {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go acceptAll(l)
	return l.Addr().String()
}

// The port of a run is the only one that it can reach [M17].
func TestOnlyTheOwnPortIsReached(t *testing.T) {
	l := launcher(t)
	_, third, _ := net.SplitHostPort(listening(t, "tcp", "127.0.0.1:0"))
	script := `nc -z -w 3 127.0.0.1 "$1" && ! nc -z -w 3 127.0.0.1 "$2" && ! nc -z -w 3 ::1 "$2" && ! nc -z -w 3 ::1 "$1"`
	p, err := l.Start(t.Context(), Policy{Network: PrivateLoopback, Listen: 7717}, Command{Path: "/bin/sh",
		Build: func(addr string) (args, env []string) {
			_, own, _ := net.SplitHostPort(addr)
			return []string{"-c", script, "sh", own, third}, []string{"PATH=/usr/bin:/bin"}
		}})
	if err != nil {
		t.Fatal(err)
	}
	go acceptAll(p.Listener())
	if exit := p.Wait(); exit != (Exit{}) {
		t.Errorf("ended with %+v", exit)
	}
	if _, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("the port is open after the end")
	}
}

// Claude Code's view: the base system and what is shown.
func TestTheBaseSystemShowsNothingOfTheUsers(t *testing.T) {
	dir := ground(t)
	put(t, filepath.Join(dir, "shown"), "x")
	put(t, filepath.Join(dir, "beside"), "x")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	script := `cat "$1/shown" && ! cat "$1/beside" && ! ls "$1" && ! ls "$2" && ! ls /private/tmp && ! ls /usr/local/bin && ! ls /Applications && ls / && /usr/bin/true`
	p, err := launcher(t).Start(t.Context(), Policy{ReadOnly: []string{filepath.Join(dir, "shown")}},
		Command{Path: "/bin/sh", Args: []string{"-c", script, "sh", dir, home}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Wait(); exit != (Exit{}) {
		t.Errorf("ended with %+v", exit)
	}
}
